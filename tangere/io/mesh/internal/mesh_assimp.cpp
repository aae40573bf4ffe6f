/// COLLADA and glTF through assimp, unless the library was built without it (TANGERE_ASSIMP=OFF).

#include <string>

#include "tangere/io/mesh/internal/mesh_parsers.hpp"
#include "tangere/math/error.hpp"

#ifdef TANGERE_WITH_ASSIMP

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#include <exception>
#include <filesystem>

namespace tangere::internal {

namespace {

/// The library's later steps follow indices without looking.
void check_indices(const aiScene& scene, const std::string& name) {
  for (unsigned m = 0; m < scene.mNumMeshes; ++m) {
    const aiMesh& mesh = *scene.mMeshes[m];
    for (unsigned i = 0; i < mesh.mNumFaces; ++i)
      for (unsigned k = 0; k < mesh.mFaces[i].mNumIndices; ++k)
        if (mesh.mFaces[i].mIndices[k] >= mesh.mNumVertices)
          throw InputError(name, "there is no vertex " + std::to_string(mesh.mFaces[i].mIndices[k]) + ", only " +
                                     std::to_string(mesh.mNumVertices) + " (mesh " + std::to_string(m) + ")");
  }
}

/// Belongs to the importer.
const aiScene& imported_scene(Assimp::Importer& importer, const std::string& name) {
  // robots give the mesh's own axes; only surfaces matter
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
  const aiScene* scene = importer.ReadFile(name, 0);
  if (scene == nullptr) throw InputError(name, importer.GetErrorString());
  check_indices(*scene, name);
  scene = importer.ApplyPostProcessing(aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_SortByPType);
  if (scene == nullptr) throw InputError(name, importer.GetErrorString());
  return *scene;
}

TriangleMesh triangles_of(const aiScene& scene, const std::string& name) {
  TriangleMesh result;
  for (unsigned m = 0; m < scene.mNumMeshes; ++m) {
    const aiMesh& mesh = *scene.mMeshes[m];
    const int first = static_cast<int>(result.vertices.size());
    for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
      const aiVector3D& p = mesh.mVertices[i];
      result.vertices.emplace_back(static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z));
      if (!result.vertices.back().allFinite())
        throw InputError(name, "a coordinate must be a finite number (vertex " + std::to_string(i) + " of mesh " +
                                   std::to_string(m) + ")");
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

}  // namespace

TriangleMesh read_with_assimp(const std::filesystem::path& file) {
  const std::string name = file.string();
  try {
    Assimp::Importer importer;
    return triangles_of(imported_scene(importer, name), name);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(name, std::string("cannot be read: ") + error.what());
  }
}

}  // namespace tangere::internal

#else

namespace tangere::internal {

TriangleMesh read_with_assimp(const std::filesystem::path& file) {
  throw InputError(
      file.string(),
      "this build reads OBJ and STL only: build with TANGERE_ASSIMP=ON and libassimp-dev for COLLADA and glTF");
}

}  // namespace tangere::internal

#endif
