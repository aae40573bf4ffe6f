/// Wavefront OBJ: `v` and `f`. Normals, texture, materials and groups say nothing about the surface; other statements
/// (lines, points, curves, free-form surfaces) are reported. A line that ends in a backslash goes on in the next.

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "tangere/io/mesh/internal/mesh_parsers.hpp"
#include "tangere/io/mesh_file.hpp"
#include "tangere/io/text/text.hpp"

namespace tangere::internal {
namespace {

class ObjParser {
 public:
  ObjParser(std::string_view text, const std::string& name, std::vector<Notice>* notices)
      : lines_(text), name_(name), notices_(notices) {}

  TriangleMesh run() {
    while (lines_.next()) {
      start_ = lines_.number();
      std::string_view rest = logical_line();
      const std::string_view keyword = next_word(rest);
      if (keyword == "v")
        read_vertex(rest);
      else if (keyword == "f")
        read_face(rest);
      else
        report(keyword);
    }
    check_indices();
    return std::move(mesh_);
  }

 private:
  std::string_view logical_line() {
    if (!lines_.line().ends_with('\\')) return lines_.line();
    joined_.clear();
    for (;;) {
      joined_ += lines_.line();
      if (!joined_.ends_with('\\')) break;
      joined_.back() = ' ';
      if (!lines_.next()) break;
    }
    return joined_;
  }

  /// A statement that is neither read nor known to do no harm, the first of its kind.
  void report(std::string_view keyword) {
    constexpr std::array<std::string_view, 8> kHarmless{"vn", "vt", "g", "o", "s", "usemtl", "mtllib", ""};
    constexpr std::size_t kMostReported = 20;
    if (notices_ == nullptr || keyword.starts_with('#') || reported_.size() >= kMostReported) return;
    if (std::find(kHarmless.begin(), kHarmless.end(), keyword) != kHarmless.end()) return;
    if (!reported_.insert(excerpt(keyword)).second) return;
    notices_->push_back({name_, start_, excerpt(keyword),
                         reported_.size() < kMostReported ? "this statement is not used, here and wherever it follows"
                                                          : "neither this statement is used nor others that follow"});
  }

  [[noreturn]] void fail(const std::string& reason) const { fail_at_line(name_, start_, reason); }

  /// Weights and colours may follow.
  void read_vertex(std::string_view rest) {
    Vector3 vertex;
    for (int k = 0; k < 3; ++k) {
      if (trimmed(rest).empty()) fail("a vertex must have three coordinates, has " + std::to_string(k));
      vertex[k] = next_coordinate(rest, name_, start_);
    }
    mesh_.vertices.push_back(vertex);
  }

  /// `v`, `v/t`, `v//n` or `v/t/n`: from 1, or backwards from the last vertex so far.
  int read_corner(std::string_view word) const {
    const std::optional<int> index = parse_integer(word.substr(0, word.find('/')));
    if (!index || *index == 0) fail("a corner must be a vertex number, got " + quoted(word));
    const int count = static_cast<int>(mesh_.vertices.size());
    if (*index < -count) fail("there is no vertex " + std::to_string(*index) + ", only " + std::to_string(count));
    return *index > 0 ? *index - 1 : count + *index;
  }

  void read_face(std::string_view rest) {
    // a fan from the first corner
    int first = 0;
    int previous = 0;
    int corners = 0;
    for (std::string_view word = next_word(rest); !word.empty() && word[0] != '#'; word = next_word(rest)) {
      const int corner = read_corner(word);
      if (corners == 0) first = corner;
      if (corners >= 2) {
        mesh_.triangles.push_back({first, previous, corner});
        triangle_lines_.push_back(start_);
      }
      previous = corner;
      ++corners;
    }
    if (corners < 3) fail("a face must have three corners or more, has " + std::to_string(corners));
  }

  /// Vertices may come after the faces that use them.
  void check_indices() {
    const int count = static_cast<int>(mesh_.vertices.size());
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
      for (const int corner : mesh_.triangles[t])
        if (corner >= count)
          fail_at_line(name_, triangle_lines_[t],
                       "there is no vertex " + std::to_string(corner + 1) + ", only " + std::to_string(count));
  }

  TextLines lines_;
  const std::string& name_;
  std::vector<Notice>* notices_;
  std::set<std::string> reported_;
  TriangleMesh mesh_;
  /// Line of the file that each triangle was read from.
  std::vector<int> triangle_lines_;
  std::string joined_;
  int start_ = 0;
};

}  // namespace

TriangleMesh parse_obj(std::string_view text, const std::string& name, std::vector<Notice>* notices) {
  return ObjParser(text, name, notices).run();
}

}  // namespace tangere::internal

namespace tangere {

std::string to_obj(const TriangleMesh& mesh) {
  std::string text;
  for (const Vector3& vertex : mesh.vertices) {
    text += "v";
    for (const double coordinate : vertex) text += " " + internal::shortest(coordinate);
    text += "\n";
  }
  for (const auto& triangle : mesh.triangles) {
    text += "f";
    for (const int corner : triangle) text += " " + std::to_string(corner + 1);
    text += "\n";
  }
  return text;
}

}  // namespace tangere
