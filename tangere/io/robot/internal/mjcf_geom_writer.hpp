#pragma once

/// The geoms and meshes of an MJCF file. Private to io.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tangere/io/robot/internal/mjcf_parts.hpp"
#include "tangere/io/robot/internal/mjcf_text.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere::internal {

class MjcfGeomWriter {
 public:
  /// Lays everything out; throws InputError for shapes that MJCF does not have.
  explicit MjcfGeomWriter(const Model& model);
  void write_assets(XmlText& out) const;
  void write_geoms(XmlText& out, int body) const;

 private:
  struct Geom {
    std::string name;
    std::string type;
    VectorX size;
    Pose X;
    /// Mesh geoms only: index of the mesh.
    int mesh = -1;
    const CollisionShape* collides = nullptr;
    const VisualShape* seen = nullptr;
  };
  struct Mesh {
    std::string name;
    TriangleMesh mesh;
  };

  [[nodiscard]] Geom geom_of(const std::string& name, const Shape& shape, const Pose& X);
  [[nodiscard]] int mesh_of(const std::shared_ptr<const TriangleMesh>& mesh, const std::string& name);
  void lay_out(const BodySpec& body, std::vector<Geom>& geoms);

  std::vector<std::vector<Geom>> geoms_;
  std::vector<Mesh> meshes_;
  std::map<const TriangleMesh*, int> known_;
  std::set<std::string> geom_names_;
  std::set<std::string> mesh_names_;
};

}  // namespace tangere::internal
