#include "tangere/io/mesh_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "tangere/io/mesh/internal/mesh_check.hpp"
#include "tangere/io/mesh/internal/mesh_parsers.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"

namespace tangere {
namespace {

std::string lower_case_ending(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

/// Formats that assimp reads for us.
bool is_for_assimp(const std::string& ending) { return ending == ".dae" || ending == ".gltf" || ending == ".glb"; }

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail_to_read(const std::filesystem::path& file) {
  throw InputError(file.string(), std::string("cannot be read: ") + std::strerror(errno));
}

void require_readable_size(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) throw InputError(file.string(), "there is no such file");
  // a pipe could be waited for
  if (!std::filesystem::is_regular_file(file, error)) throw InputError(file.string(), "is not a file");
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (!error && size > kMaxMeshFile)
    throw InputError(file.string(), "must have at most " + std::to_string(kMaxMeshFile >> 20) + " MiB, has " +
                                        std::to_string(size >> 20));
}

std::string read_bytes(const std::filesystem::path& file) {
  require_readable_size(file);
  const File handle(std::fopen(file.c_str(), "rb"));
  if (!handle) fail_to_read(file);
  // not more than the limit, should it grow meanwhile
  std::string bytes;
  std::string block(1 << 16, '\0');
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), handle.get())) {
    bytes.append(block, 0, count);
    if (bytes.size() > kMaxMeshFile) break;
  }
  if (std::ferror(handle.get()) != 0) fail_to_read(file);
  return bytes;
}

TriangleMesh read(const std::filesystem::path& file, std::vector<Notice>* notices) {
  const std::string ending = lower_case_ending(file);
  if (ending == ".obj") return internal::parse_obj(read_bytes(file), file.string(), notices);
  if (ending == ".stl") return internal::parse_stl(read_bytes(file), file.string());
  if (is_for_assimp(ending)) {
    require_readable_size(file);
    if (ending == ".dae")
      internal::check_collada(file);
    else
      internal::check_gltf(file);
    return internal::read_with_assimp(file);
  }
  throw InputError(file.string(), "must be a mesh file (.obj, .stl, .dae, .gltf, .glb)");
}

}  // namespace

TriangleMesh load_mesh(const std::filesystem::path& file, const Vector3& scale, std::vector<Notice>* notices) {
  for (int i = 0; i < 3; ++i)
    if (!(std::abs(scale[i]) >= internal::kSmallestSize && std::abs(scale[i]) <= internal::kLargestSize))
      throw InputError(file.string() + ": scale", "must be finite and not zero, got " + internal::to_text(scale));
  TriangleMesh mesh = read(file, notices);
  for (Vector3& vertex : mesh.vertices) {
    vertex = vertex.cwiseProduct(scale).eval();
    if (!(vertex.cwiseAbs().maxCoeff() <= internal::kLargestSize))
      throw InputError(file.string(), "has a vertex too far away, " + internal::to_text(vertex));
  }
  if (scale.prod() < 0.0)
    for (auto& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  mesh = internal::cleaned(mesh);
  if (mesh.triangles.empty()) throw InputError(file.string(), "has no triangles");
  return mesh;
}

bool is_mesh_file(const std::filesystem::path& file) {
  const std::string ending = lower_case_ending(file);
#ifdef TANGERE_WITH_ASSIMP
  if (is_for_assimp(ending)) return true;
#endif
  return ending == ".obj" || ending == ".stl";
}

namespace internal {

TriangleMesh cleaned(const TriangleMesh& mesh) {
  // vertices in the order of their coordinates: equal ones are neighbours, and the first in the file stands for all
  const auto at = [&](int i) -> const Vector3& { return mesh.vertices[i]; };
  const auto less = [&](int i, int j) {
    for (int k = 0; k < 3; ++k)
      if (at(i)[k] != at(j)[k]) return at(i)[k] < at(j)[k];
    return i < j;
  };
  std::vector<int> order(mesh.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), less);
  std::vector<int> first(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool repeated = k > 0 && at(order[k]) == at(order[k - 1]);
    first[order[k]] = repeated ? first[order[k - 1]] : order[k];
  }

  // triangles over them, vertices in the order they are met
  TriangleMesh result;
  std::vector<int> index(mesh.vertices.size(), -1);
  for (const auto& triangle : mesh.triangles) {
    std::array<int, 3> corners;
    for (std::size_t k = 0; k < 3; ++k) corners[k] = first[triangle[k]];
    if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) continue;
    for (int& corner : corners) {
      int& kept = index[corner];
      if (kept < 0) {
        kept = static_cast<int>(result.vertices.size());
        result.vertices.push_back(at(corner));
      }
      corner = kept;
    }
    result.triangles.push_back(corners);
  }
  return result;
}

bool TextLines::next() {
  if (rest_.empty()) return false;
  ++number_;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  return true;
}

std::string_view next_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    text = {};
    return {};
  }
  const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

double next_coordinate(std::string_view& text, const std::string& name, int line) {
  const std::string_view word = next_word(text);
  const std::optional<double> number = parse_number(word);
  if (!number) fail_at_line(name, line, "a coordinate must be a finite number, got " + quoted(word));
  return *number;
}

void fail_at_line(const std::string& name, int line, const std::string& reason) {
  throw InputError(name + ":" + std::to_string(line), reason);
}

}  // namespace internal
}  // namespace tangere
