#pragma once

/// Mesh files that another library reads, looked at before it does: it believes counts, indices and references, and
/// goes as deep as a file says. Private to io.

#include <filesystem>

namespace tangere::internal {

/// Nodes inside (and instanced by) each other.
inline constexpr int kMaxMeshNodeDepth = 100;
/// With every instance counted.
inline constexpr double kMaxMeshNodes = 1e5;

/// Throws InputError, with the line, unless this is XML within the bounds of XmlDocument whose lists hold the numbers
/// that are announced, whose indices are not negative, and whose nodes are within the bounds above and not in
/// themselves.
void check_collada(const std::filesystem::path& file);

/// The same for the nodes of a glTF, text or binary; of a binary one, also that its chunks end within it.
void check_gltf(const std::filesystem::path& file);

}  // namespace tangere::internal
