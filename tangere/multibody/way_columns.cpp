#include "tangere/multibody/way_columns.hpp"

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

const Attachment* moving(const Model& model, int body) {
  if (body < 0) return nullptr;
  const Attachment& at = model.links().bodies[body];
  return at.link < 0 ? nullptr : &at;
}

/// From the link's tree's origin to the point.
Vec4 from_origin(const Data::Memory& m, int link, const Vector3& about) { return to_vec4(about) - m.origin[link]; }

Motion at_point(const Motion& a, Vec4 x) { return {a.v + cross(a.w, x), a.w}; }

}  // namespace

std::span<const int> way_of(const Model& model, int body) {
  const Attachment* at = moving(model, body);
  if (at == nullptr) return {};
  const Links& tree = model.links();
  const int last = tree[at->link].v + tree[at->link].nv - 1;
  return {tree.way_to(last), static_cast<std::size_t>(tree.way_length[last])};
}

void way_columns(const Model& model, const Data& data, int body, const Vector3& about, Eigen::Ref<Matrix6X> columns) {
  const Attachment* at = moving(model, body);
  if (at == nullptr) return;
  const Data::Memory& m = memory_of(model, data);
  const Vec4 x = from_origin(m, at->link, about);
  Eigen::Index column = 0;
  for (const int k : way_of(model, body)) columns.col(column++) = to_vector6(at_point(m.S[k], x));
}

void way_forces(const Model& model, const Data& data, int body, const Vector3& about, const Vector6& wrench,
                double* out) {
  const Attachment* at = moving(model, body);
  if (at == nullptr) return;
  const Data::Memory& m = memory_of(model, data);
  Force W{to_vec4(wrench.head<3>()), to_vec4(wrench.tail<3>())};
  W.n += cross(from_origin(m, at->link, about), W.f);
  for (const int k : way_of(model, body)) *out++ = dot(m.S[k], W);
}

struct BodyVelocities::Memory {
  std::vector<Motion> V;
};

BodyVelocities::BodyVelocities(const Model& model) : memory_("BodyVelocities", std::make_unique<Memory>()) {
  memory_->V.resize(static_cast<std::size_t>(model.links().size()));
}
BodyVelocities::~BodyVelocities() = default;
BodyVelocities::BodyVelocities(BodyVelocities&&) noexcept = default;
BodyVelocities& BodyVelocities::operator=(BodyVelocities&&) noexcept = default;

void BodyVelocities::set(const Model& model, const Data& data, VectorArgument v) {
  require_size("v", v.size(), model.nv());
  const Data::Memory& m = memory_of(model, data);
  const Links& tree = model.links();
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    Motion V = link.parent < 0 ? Motion{} : memory_->V[link.parent];
    for (int k = link.v; k < link.v + link.nv; ++k) V += m.S[k] * v[k];
    memory_->V[i] = V;
  }
}

Vector6 BodyVelocities::twist(const Model& model, const Data& data, int body, const Vector3& about) const {
  const Attachment* at = moving(model, body);
  if (at == nullptr) return Vector6::Zero();
  const Data::Memory& m = memory_of(model, data);
  return to_vector6(at_point(memory_->V[at->link], from_origin(m, at->link, about)));
}

void BodyVelocities::twist_derivatives(const Model& model, const Data& data, int body, const Vector3& about,
                                       Eigen::Ref<Matrix6X> columns) const {
  const Attachment* at = moving(model, body);
  if (at == nullptr) return;
  const Data::Memory& m = memory_of(model, data);
  const Links& tree = model.links();
  const Vec4 x = from_origin(m, at->link, about);
  const Motion& V = memory_->V[at->link];
  Eigen::Index column = 0;
  for (const int k : way_of(model, body)) {
    const int before = tree[tree.link_of_dof[k]].parent;
    const Motion V_p = before < 0 ? Motion{} : memory_->V[before];
    columns.col(column++) = to_vector6(at_point(cross(m.S[k], V - V_p), x));
  }
}

Vector6 twist_bracket(const Vector6& S, const Vector6& T) {
  const Vector3 s = S.head<3>();
  const Vector3 sw = S.tail<3>();
  const Vector3 t = T.head<3>();
  const Vector3 tw = T.tail<3>();
  Vector6 out;
  out << sw.cross(t) + s.cross(tw), sw.cross(tw);
  return out;
}

Vector6 placement_twist(const Pose& X_WP, const Pose& X, int component, const Vector3& about) {
  const Vector3 unit = Vector3::Unit(component % 3);
  Vector6 out = Vector6::Zero();
  if (component < 3) {
    out.head<3>() = X_WP.R * unit;
    return out;
  }
  const Vector3 turn = X_WP.R * (so3::right_jacobian(-so3::log(X.R)) * unit);
  out << turn.cross(about - X_WP * X.p), turn;
  return out;
}

}  // namespace tangere
