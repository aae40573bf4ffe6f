/// STL. A text file begins with `solid`; so do some binary ones, whose 80 bytes before the number of triangles are
/// free. A file whose length is that which the number asks for is binary; else it is text if a facet (or the end)
/// follows the line of `solid`. Normals are those of the triangles, whatever the file says.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "tangere/io/mesh/internal/mesh_parsers.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

static_assert(std::endian::native == std::endian::little, "binary STL is little-endian");

constexpr std::size_t kHeader = 84;
constexpr std::size_t kFacet = 50;
/// Offset of a facet's corners, after its normal.
constexpr std::size_t kCorners = 12;

bool same_word(std::string_view word, std::string_view lower_case) {
  if (word.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != lower_case[i]) return false;
  }
  return true;
}

std::uint32_t facet_count(std::string_view bytes) {
  std::uint32_t count = 0;
  std::memcpy(&count, bytes.data() + 80, sizeof count);
  return count;
}

bool is_text(std::string_view bytes) {
  if (bytes.size() >= kHeader && bytes.size() == kHeader + kFacet * facet_count(bytes)) return false;
  TextLines lines(bytes);
  std::string_view rest;
  const auto word = [&] {
    std::string_view found = next_word(rest);
    while (found.empty() && lines.next()) {
      rest = lines.line();
      found = next_word(rest);
    }
    return found;
  };
  if (!same_word(word(), "solid")) return false;
  rest = {};  // the name
  const std::string_view second = word();
  return second.empty() || same_word(second, "facet") || same_word(second, "endsolid");
}

void add_triangle(TriangleMesh& mesh, const std::array<Vector3, 3>& corners) {
  const int first = static_cast<int>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
  mesh.triangles.push_back({first, first + 1, first + 2});
}

TriangleMesh parse_binary(std::string_view bytes, const std::string& name) {
  if (bytes.size() < kHeader)
    throw InputError(name, "is no STL file: neither text (solid, facet, …) nor the " + std::to_string(kHeader) +
                               " bytes that begin a binary one, but " + std::to_string(bytes.size()) + " bytes");
  const std::size_t count = facet_count(bytes);
  const std::size_t complete = (bytes.size() - kHeader) / kFacet;
  if (complete < count)
    throw InputError(name + ": byte " + std::to_string(bytes.size()),
                     "ends too early: " + std::to_string(count) + " triangles announced, " + std::to_string(complete) +
                         " there (or it is no STL file)");
  // a line end or the like behind the last one does no harm
  const std::size_t end = kHeader + kFacet * count;
  if (complete > count)
    throw InputError(name + ": byte " + std::to_string(end),
                     std::to_string(bytes.size() - end) + " bytes follow the last of " + std::to_string(count) +
                         " triangles: the number of triangles is wrong, or it is no STL file");
  TriangleMesh mesh;
  mesh.vertices.reserve(3 * count);
  mesh.triangles.reserve(count);
  for (std::size_t f = 0; f < count; ++f) {
    const std::size_t begin = kHeader + kFacet * f + kCorners;
    std::array<float, 9> numbers;
    std::memcpy(numbers.data(), bytes.data() + begin, sizeof numbers);
    std::array<Vector3, 3> corners;
    for (std::size_t i = 0; i < 9; ++i) {
      const double number = static_cast<double>(numbers[i]);
      if (!(number - number == 0.0))
        throw InputError(name + ": byte " + std::to_string(begin + 4 * i),
                         "a coordinate must be a finite number, got " + to_text(number));
      corners[i / 3][static_cast<Eigen::Index>(i % 3)] = number;
    }
    add_triangle(mesh, corners);
  }
  return mesh;
}

class TextParser {
 public:
  TextParser(std::string_view text, const std::string& name) : lines_(text), name_(name) {}

  TriangleMesh run() {
    // several solids may follow each other
    while (next_line("solid")) {
      for (;;) {
        require_line("facet");
        if (same_word(keyword_, "endsolid")) break;
        read_facet();
      }
    }
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { fail_at_line(name_, lines_.number(), reason); }

  /// The next line that is not empty, of which `keyword_` is the first word and `rest_` what follows.
  bool next_line(std::string_view expected) {
    while (lines_.next()) {
      rest_ = lines_.line();
      keyword_ = next_word(rest_);
      if (keyword_.empty()) continue;
      const bool end = expected == "facet" && same_word(keyword_, "endsolid");
      if (!end && !same_word(keyword_, expected))
        fail("expected '" + std::string(expected) + "', got " + quoted(keyword_));
      return true;
    }
    return false;
  }

  void require_line(std::string_view expected) {
    if (!next_line(expected)) fail("ends too early, expected '" + std::string(expected) + "'");
  }

  void read_facet() {
    require_line("outer");
    std::array<Vector3, 3> corners;
    for (Vector3& corner : corners) {
      require_line("vertex");
      for (int k = 0; k < 3; ++k) corner[k] = next_coordinate(rest_, name_, lines_.number());
    }
    require_line("endloop");
    require_line("endfacet");
    add_triangle(mesh_, corners);
  }

  TextLines lines_;
  const std::string& name_;
  TriangleMesh mesh_;
  std::string_view keyword_;
  std::string_view rest_;
};

}  // namespace

TriangleMesh parse_stl(std::string_view bytes, const std::string& name) {
  return is_text(bytes) ? TextParser(bytes, name).run() : parse_binary(bytes, name);
}

}  // namespace tangere::internal
