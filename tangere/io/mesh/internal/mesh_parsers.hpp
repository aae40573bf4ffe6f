#pragma once

/// The formats behind load_mesh. Private to io.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/geometry/mesh.hpp"
#include "tangere/io/robot_file.hpp"

namespace tangere::internal {

/// Contents of a mesh file, unchanged; indices are valid and numbers finite. Errors start with `name`.
/// Statements of an OBJ file that are not understood are added to the notices, once each.
[[nodiscard]] TriangleMesh parse_obj(std::string_view text, const std::string& name,
                                     std::vector<Notice>* notices = nullptr);
[[nodiscard]] TriangleMesh parse_stl(std::string_view bytes, const std::string& name);
/// For files that `mesh_check.hpp` let pass. Throws InputError if the library was built without assimp.
[[nodiscard]] TriangleMesh read_with_assimp(const std::filesystem::path& file);

/// Equal vertices made one, triangles without three different corners and vertices of no triangle left out.
[[nodiscard]] TriangleMesh cleaned(const TriangleMesh& mesh);

// text

/// Lines of a text, numbered from 1, without their line break (LF or CRLF).
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}
  /// False at the end.
  bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
};

/// Takes the next word (no blanks) off the front; empty at the end.
[[nodiscard]] std::string_view next_word(std::string_view& text);
/// The next word as a coordinate of a vertex; errors are at `name:line`.
[[nodiscard]] double next_coordinate(std::string_view& text, const std::string& name, int line);
/// Throws InputError with the field `name:line`.
[[noreturn]] void fail_at_line(const std::string& name, int line, const std::string& reason);

}  // namespace tangere::internal
