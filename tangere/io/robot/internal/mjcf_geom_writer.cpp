#include "tangere/io/robot/internal/mjcf_geom_writer.hpp"

#include <Eigen/Eigenvalues>

#include "tangere/math/error.hpp"

namespace tangere::internal {
namespace {

/// Element by element: a copy from a vector of two is more than g++ 12 believes to fit (-Wstringop-overflow).
VectorX radius_and_half(double radius, double length) {
  VectorX out(2);
  out[0] = radius;
  out[1] = 0.5 * length;
  return out;
}

/// Our x axis along z.
const Pose kAlongZ = Pose::rotation((Matrix3() << 0, 1, 0, 0, 0, 1, 1, 0, 0).finished());

bool same(const Pose& X, const Pose& Y) {
  return (X.R - Y.R).cwiseAbs().maxCoeff() < 1e-12 && (X.p - Y.p).cwiseAbs().maxCoeff() < 1e-12;
}

/// Whether the reader makes this pair of one geom.
bool belong_together(const CollisionShape& shape, const VisualShape& visual) {
  if (shape.name != visual.name) return false;
  if (const Shape* seen = std::get_if<Shape>(&visual.geometry))
    return seen->type_name() == shape.shape.type_name() &&
           seen->parameters().size() == shape.shape.parameters().size() &&
           seen->parameters() == shape.shape.parameters() && same(shape.X_BS, visual.X_BV);
  if (shape.shape.type_name() != "polytope") return false;
  const MeshHull hull = hull_of_mesh(*std::get<std::shared_ptr<const TriangleMesh>>(visual.geometry));
  return hull.shape.parameters().size() == shape.shape.parameters().size() &&
         hull.shape.parameters().isApprox(shape.shape.parameters(), 1e-9) && same(visual.X_BV * hull.X_MS, shape.X_BS);
}

}  // namespace

MjcfGeomWriter::MjcfGeomWriter(const Model& model) {
  std::set<MjcfContactBits> given;
  for (const Body& body : model.bodies())
    for (const CollisionShape& shape : body.spec.shapes) given.insert({shape.group, shape.mask});
  // here both groups have to be in the other's mask, there one is enough
  for (const MjcfContactBits& a : given)
    for (const MjcfContactBits& b : given)
      if (((a.contype & b.conaffinity) != 0) != ((b.contype & a.conaffinity) != 0))
        throw InputError(model.name(), "a shape of group " + std::to_string(a.contype) +
                                           " is in the mask of one of group " + std::to_string(b.contype) +
                                           ", but not the other way round: MJCF cannot say so");
  for (const Body& body : model.bodies()) lay_out(body.spec, geoms_.emplace_back());
}

int MjcfGeomWriter::mesh_of(const std::shared_ptr<const TriangleMesh>& mesh, const std::string& name) {
  if (const auto found = known_.find(mesh.get()); found != known_.end()) return found->second;
  meshes_.push_back({new_name(name, mesh_names_), *mesh});
  return known_[mesh.get()] = static_cast<int>(meshes_.size()) - 1;
}

MjcfGeomWriter::Geom MjcfGeomWriter::geom_of(const std::string& name, const Shape& shape, const Pose& X) {
  const auto geom = [&](const char* type, const VectorX& size, const Pose& X_shape) {
    return Geom{"", type, size, X_shape};
  };
  if (const auto* s = shape.get_if<Sphere>()) return geom("sphere", VectorX::Constant(1, s->radius), X);
  if (const auto* s = shape.get_if<Box>()) return geom("box", 0.5 * s->size, X);
  if (const auto* s = shape.get_if<Capsule>())
    return geom("capsule", radius_and_half(s->radius, s->length), X * kAlongZ.inverse());
  if (const auto* s = shape.get_if<Cylinder>())
    return geom("cylinder", radius_and_half(s->radius, s->length), X * kAlongZ.inverse());
  if (const auto* s = shape.get_if<HalfSpace>()) {
    const Vector3 n = s->normal.stableNormalized();
    return geom("plane", Vector3(0.0, 0.0, 1.0), X * Pose(rotation_to(n), s->offset / s->normal.stableNorm() * n));
  }
  if (const auto* s = shape.get_if<Ellipsoid>()) {
    if (!s->P) return geom("ellipsoid", s->semi_axes, X);
    const Eigen::SelfAdjointEigenSolver<Matrix3> solver(*s->P);
    Matrix3 R = solver.eigenvectors();
    if (R.determinant() < 0.0) R.col(2) *= -1.0;
    return geom("ellipsoid", solver.eigenvalues().cwiseSqrt().cwiseInverse(), X * Pose::rotation(R));
  }
  if (shape.get_if<Polytope>() != nullptr) {
    const MatrixX3& vertices = shape.set().core.vertices;
    TriangleMesh mesh;
    for (Eigen::Index i = 0; i < vertices.rows(); ++i) mesh.vertices.emplace_back(vertices.row(i).transpose());
    Geom out = geom("mesh", VectorX(), X);
    meshes_.push_back({new_name(name.empty() ? "hull" : name, mesh_names_), std::move(mesh)});
    out.mesh = static_cast<int>(meshes_.size()) - 1;
    return out;
  }
  throw InputError(name, "MJCF has no shape of type " + std::string(shape.type_name()));
}

void MjcfGeomWriter::lay_out(const BodySpec& body, std::vector<Geom>& geoms) {
  std::vector<bool> done(body.visuals.size(), false);
  const auto seen_of = [&](const VisualShape& visual, const std::string& name) {
    Geom geom;
    if (const Shape* shape = std::get_if<Shape>(&visual.geometry)) {
      geom = geom_of(name, *shape, visual.X_BV);
    } else {
      geom.type = "mesh";
      geom.X = visual.X_BV;
      geom.mesh = mesh_of(std::get<std::shared_ptr<const TriangleMesh>>(visual.geometry), name);
    }
    geom.seen = &visual;
    return geom;
  };
  const auto add = [&](Geom geom, const std::string& name) {
    if (!name.empty()) geom.name = new_name(name, geom_names_);
    geoms.push_back(std::move(geom));
  };
  for (const CollisionShape& shape : body.shapes) {
    const std::string place = shape.name.empty() ? body.name : shape.name;
    std::size_t k = 0;
    while (k < done.size() && (done[k] || !belong_together(shape, body.visuals[k]))) ++k;
    Geom geom = k < done.size() ? seen_of(body.visuals[k], place) : geom_of(place, shape.shape, shape.X_BS);
    if (k < done.size()) done[k] = true;
    geom.collides = &shape;
    add(std::move(geom), shape.name);
  }
  for (std::size_t k = 0; k < done.size(); ++k) {
    const VisualShape& visual = body.visuals[k];
    if (!done[k]) add(seen_of(visual, visual.name.empty() ? body.name : visual.name), visual.name);
  }
}

void MjcfGeomWriter::write_assets(XmlText& out) const {
  if (meshes_.empty()) return;
  out.open("asset");
  for (const Mesh& mesh : meshes_) {
    Eigen::VectorXd vertices(3 * static_cast<Eigen::Index>(mesh.mesh.vertices.size()));
    for (std::size_t i = 0; i < mesh.mesh.vertices.size(); ++i)
      vertices.segment<3>(3 * static_cast<Eigen::Index>(i)) = mesh.mesh.vertices[i];
    out.open("mesh").text("name", mesh.name).numbers("vertex", vertices);
    if (!mesh.mesh.triangles.empty()) {
      std::string faces;
      for (const auto& triangle : mesh.mesh.triangles)
        for (const int i : triangle) faces += (faces.empty() ? "" : " ") + std::to_string(i);
      out.text("face", faces);
    }
    out.close();
  }
  out.close();
}

void MjcfGeomWriter::write_geoms(XmlText& out, int body) const {
  for (const Geom& geom : geoms_[body]) {
    out.open("geom");
    if (!geom.name.empty()) out.text("name", geom.name);
    out.text("type", geom.type);
    if (geom.mesh >= 0)
      out.text("mesh", meshes_[geom.mesh].name);
    else
      out.numbers("size", geom.size);
    out.pose(geom.X);
    if (geom.collides != nullptr) {
      // bits as signed numbers, as MuJoCo reads them
      out.text("contype", std::to_string(static_cast<std::int32_t>(geom.collides->group)));
      out.text("conaffinity", std::to_string(static_cast<std::int32_t>(geom.collides->mask)));
      out.number("friction", geom.collides->friction);
      if (geom.seen == nullptr) out.text("group", "3");
    } else {
      out.text("contype", "0").text("conaffinity", "0");
    }
    if (geom.seen != nullptr) out.numbers("rgba", geom.seen->color);
    out.close();
  }
}

}  // namespace tangere::internal
