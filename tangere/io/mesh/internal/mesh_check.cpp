#include "tangere/io/mesh/internal/mesh_check.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tangere/io/mesh/internal/mesh_parsers.hpp"
#include "tangere/io/text/json_reader.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/io/text/xml_file.hpp"
#include "tangere/math/error.hpp"

namespace tangere::internal {
namespace {

// nodes
// ---------------------------------------------------------------------------------------------------------------------

/// Children of each node by number, and the texts of errors.
struct NodeGraph {
  std::vector<std::vector<int>> below;
  std::function<void(int node, const std::string& reason)> fail;
};

/// Goes through a graph once, however often its parts are shared.
class NodeWalk {
 public:
  explicit NodeWalk(const NodeGraph& graph) : graph_(graph), seen_(graph.below.size()) {}

  void check_all() {
    for (std::size_t node = 0; node < seen_.size(); ++node) visit(static_cast<int>(node), 1);
  }

 private:
  struct Seen {
    bool open = false;
    /// Depth of the node's subtree; 0 while that is not known.
    int depth = 0;
    double count = 1.0;
  };

  const Seen& visit(int node, int level) {
    Seen& seen = seen_[node];
    if (seen.open) graph_.fail(node, "is below itself");
    if (level + std::max(seen.depth, 1) - 1 > kMaxMeshNodeDepth)
      graph_.fail(node, "is nested deeper than " + std::to_string(kMaxMeshNodeDepth) + " nodes");
    if (seen.depth > 0) return seen;

    seen.open = true;
    int deepest = 0;
    for (const int child : graph_.below[node]) {
      const Seen& part = visit(child, level + 1);
      deepest = std::max(deepest, part.depth);
      seen.count += part.count;
    }
    if (seen.count > kMaxMeshNodes)
      graph_.fail(node,
                  "must have at most " + shortest(kMaxMeshNodes) + " nodes below it, has " + shortest(seen.count));
    seen.open = false;
    seen.depth = deepest + 1;
    return seen;
  }

  const NodeGraph& graph_;
  std::vector<Seen> seen_;
};

// COLLADA
// ---------------------------------------------------------------------------------------------------------------------

void find_all(const XmlElement& element, const std::function<void(const XmlElement&)>& visit) {
  visit(element);
  for (const XmlElement& child : element.children()) find_all(child, visit);
}

/// How many words an element has, each looked at.
template <class Check>
double count_words(const XmlElement& element, Check&& check) {
  const std::string content = element.content();
  std::string_view rest = content;
  double count = 0.0;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    check(word);
    ++count;
  }
  return count;
}

/// How many indices (or sizes of polygons) an element has; adds them up if asked.
double count_indices(const XmlElement& element, double* sum = nullptr) {
  return count_words(element, [&](std::string_view word) {
    const std::optional<int> index = parse_integer(word);
    if (!index || *index < 0) element.fail("must be indices, whole numbers from 0, got " + quoted(word));
    if (sum != nullptr) *sum += *index;
  });
}

/// A whole number from 0, or what it is without one.
double amount(const XmlElement& element, const char* attribute, int otherwise) {
  const int value = element.find_integer(attribute).value_or(otherwise);
  if (value < 0) element.fail(attribute, "must not be negative, got " + std::to_string(value));
  return value;
}

void require_there(const XmlElement& element, const char* attribute, double needed, double there) {
  if (needed > there)
    element.fail(attribute, "needs " + shortest(needed) + " numbers or words, there are " + shortest(there));
}

/// Numbers (or words) in the arrays that accessors refer to, by id; of several with one id, the shortest.
using ArraySizes = std::map<std::string, double, std::less<>>;

void check_array(const XmlElement& element, ArraySizes& sizes) {
  const bool numbers = element.name() == "float_array";
  const double there = count_words(element, [&](std::string_view word) {
    if (numbers && !parse_number(word)) element.fail("must be finite numbers, got " + quoted(word));
  });
  const double count = amount(element, "count", 0);
  require_there(element, "count", count, there);
  const auto [found, added] = sizes.emplace(element.find_text("id").value_or(""), count);
  if (!added) found->second = std::min(found->second, count);
}

void check_accessor(const XmlElement& element, const ArraySizes& sizes) {
  const std::string source = element.find_text("source").value_or("");
  const auto array = sizes.find(std::string_view(source).substr(source.starts_with('#') ? 1 : 0));
  if (array == sizes.end()) return;  // the library says it
  const double stride = amount(element, "stride", 1);
  require_there(element, "count", amount(element, "offset", 0) + amount(element, "count", 0) * stride, array->second);
  if (static_cast<double>(element.children("param").size()) > stride)
    element.fail("stride", "must be at least the number of <param>");
}

/// <triangles>, <polylist> and their like: as many indices as their count and the offsets of their inputs ask for.
void check_primitives(const XmlElement& element) {
  double offsets = 1.0;
  for (const XmlElement& input : element.children("input"))
    offsets = std::max(offsets, amount(input, "offset", 0) + 1.0);
  double indices = 0.0;
  const std::vector<XmlElement> lists = element.children("p");
  for (const XmlElement& list : lists) indices += count_indices(list);
  const double count = amount(element, "count", 0);
  const std::string kind = element.name();
  if (kind == "triangles" || kind == "lines") {
    require_there(element, "count", count * offsets * (kind == "lines" ? 2.0 : 3.0), indices);
  } else if (kind == "polylist") {
    double corners = 0.0;
    double polygons = 0.0;
    for (const XmlElement& sizes : element.children("vcount")) polygons += count_indices(sizes, &corners);
    require_there(element, "count", count, polygons);
    require_there(element, "count", corners * offsets, indices);
  } else {
    require_there(element, "count", count, static_cast<double>(lists.size() + element.children("ph").size()));
  }
}

void check_lists(const XmlElement& root) {
  ArraySizes sizes;
  find_all(root, [&](const XmlElement& element) {
    if (element.name().ends_with("_array")) check_array(element, sizes);
  });
  find_all(root, [&](const XmlElement& element) {
    const std::string kind = element.name();
    if (kind == "accessor") check_accessor(element, sizes);
    if (kind == "p" || kind == "vcount") (void)count_indices(element);
    for (const char* primitives : {"triangles", "lines", "polylist", "polygons", "trifans", "tristrips", "linestrips"})
      if (kind == primitives) check_primitives(element);
  });
}

/// Nodes with those inside and those that they instance, by id or by name.
void check_nodes(const XmlElement& root) {
  std::vector<XmlElement> nodes;
  std::multimap<std::string, int> by_name;
  NodeGraph graph;
  std::vector<std::pair<int, std::string>> instances;
  const std::function<void(const XmlElement&, int)> add = [&](const XmlElement& element, int parent) {
    int node = parent;
    if (element.name() == "node") {
      node = static_cast<int>(nodes.size());
      nodes.push_back(element);
      graph.below.emplace_back();
      for (const char* attribute : {"id", "name"})
        if (const auto name = element.find_text(attribute)) by_name.emplace(*name, node);
      if (parent >= 0) graph.below[parent].push_back(node);
    } else if (element.name() == "instance_node" && parent >= 0) {
      const std::string url = element.find_text("url").value_or("");
      instances.emplace_back(parent, url.substr(url.starts_with('#') ? 1 : 0));
    }
    for (const XmlElement& child : element.children()) add(child, node);
  };
  add(root, -1);
  for (const auto& [node, url] : instances) {
    const auto [first, last] = by_name.equal_range(url);
    for (auto each = first; each != last; ++each) graph.below[node].push_back(each->second);
  }
  graph.fail = [&](int node, const std::string& reason) { nodes[node].fail(reason); };
  NodeWalk(graph).check_all();
}

// glTF
// ---------------------------------------------------------------------------------------------------------------------

std::string read_all(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw InputError(file.string(), "cannot be read");
  return text.str();
}

/// Four bytes, the lowest first; zeros behind the end.
std::size_t number_at(std::string_view bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 4; i-- > 0;)
    value = value << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
  return value;
}

constexpr std::string_view kBinaryMagic = "glTF";
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kChunkHeaderBytes = 8;

/// The text in a binary glTF, its first chunk. The library would believe the lengths and ask for that much memory.
std::string_view text_chunk(std::string_view bytes, const std::filesystem::path& file) {
  const std::size_t length = number_at(bytes, 8);
  if (length != bytes.size())
    throw InputError(file.string(),
                     "says it has " + std::to_string(length) + " bytes, has " + std::to_string(bytes.size()));
  for (std::size_t at = kHeaderBytes; at < length;) {
    const std::size_t chunk = number_at(bytes, at);
    if (at + kChunkHeaderBytes > length || chunk > length - at - kChunkHeaderBytes)
      throw InputError(file.string(), "a chunk ends after the file (byte " + std::to_string(at) + ")");
    at += kChunkHeaderBytes + chunk;
  }
  if (length < kHeaderBytes + kChunkHeaderBytes) throw InputError(file.string(), "has no chunks");
  return bytes.substr(kHeaderBytes + kChunkHeaderBytes, number_at(bytes, kHeaderBytes));
}

void check_nodes(const JsonValue& root) {
  const std::optional<JsonValue> nodes = root.find("nodes");
  if (!nodes) return;
  NodeGraph graph;
  const int count = static_cast<int>(nodes->size());
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    std::vector<int>& below = graph.below.emplace_back();
    const std::optional<JsonValue> children = (*nodes)[i].find("children");
    if (!children) continue;
    for (std::size_t k = 0; k < children->size(); ++k) below.push_back((*children)[k].integer(0, count - 1));
  }
  graph.fail = [&](int node, const std::string& reason) { (*nodes)[node].fail(reason); };
  NodeWalk(graph).check_all();
}

}  // namespace

void check_collada(const std::filesystem::path& file) {
  const XmlElement root = XmlDocument::load(file).root();
  check_lists(root);
  check_nodes(root);
}

void check_gltf(const std::filesystem::path& file) {
  const std::string bytes = read_all(file);
  const std::string_view text = bytes.starts_with(kBinaryMagic) ? text_chunk(bytes, file) : std::string_view(bytes);
  with_json_lines(text, file.string(), [&] { check_nodes(JsonDocument(text).root()); });
}

}  // namespace tangere::internal
