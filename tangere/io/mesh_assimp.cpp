/// COLLADA and glTF through assimp, if the library was built with it.

#include <string>

#include "tangere/io/mesh_parsers.hpp"
#include "tangere/math/error.hpp"

#ifdef TANGERE_WITH_ASSIMP

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <array>
#include <assimp/Importer.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace tangere::detail {

namespace {

/// A binary glTF says how long it and its chunks are; the library would believe it and ask for that much memory.
void verify_binary_gltf(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const auto number = [&] {
    std::array<unsigned char, 4> bytes{};
    stream.read(reinterpret_cast<char*>(bytes.data()), 4);
    std::uintmax_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | bytes[i];
    return value;
  };
  constexpr std::uintmax_t kMagic = 0x46546c67;  // "glTF"
  if (number() != kMagic || !stream) return;
  (void)number();  // version
  const std::uintmax_t size = std::filesystem::file_size(file);
  const std::uintmax_t length = number();
  if (length != size)
    throw InputError(file.string(), "says it has " + std::to_string(length) + " bytes, has " + std::to_string(size));
  for (std::uintmax_t at = 12; at < size;) {
    stream.seekg(static_cast<std::streamoff>(at));
    const std::uintmax_t chunk = number();
    if (!stream || chunk > size - std::min(size, at + 8))
      throw InputError(file.string(), "a chunk ends after the file (byte " + std::to_string(at) + ")");
    at += 8 + chunk;
  }
}

}  // namespace

TriangleMesh read_with_assimp(const std::filesystem::path& file) {
  verify_binary_gltf(file);
  Assimp::Importer importer;
  // robots give the mesh's own axes; only surfaces matter
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
  const aiScene* scene =
      importer.ReadFile(file.string(), aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_SortByPType);
  if (scene == nullptr) throw InputError(file.string(), importer.GetErrorString());

  TriangleMesh result;
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& mesh = *scene->mMeshes[m];
    const int first = static_cast<int>(result.vertices.size());
    for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
      const aiVector3D& p = mesh.mVertices[i];
      result.vertices.emplace_back(static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z));
      if (!result.vertices.back().allFinite())
        throw InputError(file.string(), "a coordinate must be a finite number (vertex " + std::to_string(i) +
                                            " of mesh " + std::to_string(m) + ")");
    }
    for (unsigned i = 0; i < mesh.mNumFaces; ++i) {
      const aiFace& face = mesh.mFaces[i];
      if (face.mNumIndices != 3) continue;
      result.triangles.push_back({first + static_cast<int>(face.mIndices[0]),
                                  first + static_cast<int>(face.mIndices[1]),
                                  first + static_cast<int>(face.mIndices[2])});
    }
  }
  return result;
}

}  // namespace tangere::detail

#else

namespace tangere::detail {

TriangleMesh read_with_assimp(const std::filesystem::path& file) {
  throw InputError(file.string(),
                   "this build reads OBJ and STL only: install libassimp-dev and build again for COLLADA and glTF");
}

}  // namespace tangere::detail

#endif
