/// COLLADA and glTF through assimp, if the library was built with it.

#include <string>

#include "tangere/io/mesh_parsers.hpp"
#include "tangere/math/error.hpp"

#ifdef TANGERE_WITH_ASSIMP

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#include <cmath>

namespace tangere::detail {

TriangleMesh read_with_assimp(const std::filesystem::path& file) {
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
