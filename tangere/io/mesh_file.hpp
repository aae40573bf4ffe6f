#pragma once

/// Triangle meshes from files: OBJ and STL (text and binary); COLLADA and glTF unless built with TANGERE_ASSIMP=OFF.
///
///   const TriangleMesh mesh = load_mesh("foot.stl", {0.001, 0.001, 0.001});

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tangere/geometry/mesh.hpp"

namespace tangere {

struct Notice;

/// Larger files are refused.
inline constexpr std::size_t kMaxMeshFile = std::size_t{100} << 20;

/// Coordinates are multiplied by `scale` (a mirror turns the triangles round, so that they stay counter-clockwise).
/// Vertices that are equal are one, those of no triangle and triangles without three different corners are left out.
/// The format is that of the name's ending. Throws InputError with file and line (or byte) for everything that is wrong
/// with the file. What of it was not understood is added to the notices, if there are any to add to.
[[nodiscard]] TriangleMesh load_mesh(const std::filesystem::path& file, const Vector3& scale = Vector3::Ones(),
                                     std::vector<Notice>* notices = nullptr);

/// The text of an OBJ file that `load_mesh` reads back bit by bit.
[[nodiscard]] std::string to_obj(const TriangleMesh& mesh);

/// Whether `load_mesh` reads files with this ending (`.dae`, whatever its case).
[[nodiscard]] bool is_mesh_file(const std::filesystem::path& file);

}  // namespace tangere
