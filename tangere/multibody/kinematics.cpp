#include "tangere/multibody/kinematics.hpp"

#include <Eigen/Geometry>

#include "tangere/math/error.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

void require_order(const Data::Memory& m, int order) {
  if (m.world_order >= order) return;
  throw InputError("data", order == 1   ? "call forward_kinematics first"
                           : order == 2 ? "call forward_kinematics with v first"
                                        : "call forward_kinematics with v and a first");
}

const Attachment& attachment(const Model& model, int body) {
  if (body < 0 || body >= model.num_bodies())
    throw InputError(
        "body", "must be between 0 and " + std::to_string(model.num_bodies() - 1) + ", got " + std::to_string(body));
  return model.links().bodies[body];
}

/// The body's origin from its tree's.
Vec4 point_of(const Data::Memory& m, const Attachment& at) {
  const Frame& X = m.X_W[at.link];
  return X.R * at.X_LB.p + X.p;
}

/// Calls f(k) for the coordinates that move a link.
template <class F>
void for_each_dof(const Links& tree, int link, F&& f) {
  if (link < 0) return;
  for (int k = tree[link].v + tree[link].nv - 1; k >= 0; k = tree.parent_dof[k]) f(k);
}

/// Rate of S: it is carried along by its link.
Motion rate(const Links& tree, const Data::Memory& m, int k) { return cross(m.V_W[tree.link_of_dof[k]], m.S[k]); }

/// Poses, and with order 2 velocities, with 3 accelerations.
void forward(const Model& model, Data& data, int order, VectorArgument q, const double* v, const double* a) {
  require_configuration(model, q);
  Data::Memory& m = memory_of(model, data);
  place_links(model.links(), q.data(), m);
  place_in_world(model.links(), m);
  if (order > 1) move_in_world(model.links(), v, a, m);
  m.world_order = order;
}

/// Acceleration of the mass centre's link part: Σ over links of m c from the tree's origin, its rate and second rate.
struct Moment {
  double mass = 0.0;
  Vec4 first{};
};

/// The link's centre of mass times its mass, from the tree's origin.
Vec4 first_moment(const Data::Memory& m, const Link& link, std::size_t i) {
  return m.X_W[i].R * link.inertia.h + link.inertia.m * m.X_W[i].p;
}

/// Masses that no link carries: bodies fixed to the world.
Moment fixed_moment(const Model& model) {
  Moment out;
  const Links& tree = model.links();
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Attachment& at = tree.bodies[b];
    if (at.link >= 0) continue;
    const MassProperties& inertia = model.body(b).spec.inertia;
    out.mass += inertia.mass;
    out.first += inertia.mass * (at.X_LB.R * to_vec4(inertia.center) + at.X_LB.p);
  }
  return out;
}

double positive_mass(const Model& model) {
  const double mass = model.total_mass();
  if (!(mass > 0.0)) throw InputError("model", "has no mass");
  return mass;
}

}  // namespace

void forward_kinematics(const Model& model, Data& data, VectorArgument q) {
  forward(model, data, 1, q, nullptr, nullptr);
}

void forward_kinematics(const Model& model, Data& data, VectorArgument q, VectorArgument v) {
  require_vector("v", v, model.nv());
  forward(model, data, 2, q, v.data(), nullptr);
}

void forward_kinematics(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument a) {
  require_vector("v", v, model.nv());
  require_vector("a", a, model.nv());
  forward(model, data, 3, q, v.data(), a.data());
}

Pose body_pose(const Model& model, const Data& data, int body) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 1);
  const Attachment& at = attachment(model, body);
  if (at.link < 0) return to_pose(at.X_LB);
  const auto i = static_cast<std::size_t>(at.link);
  return {to_matrix3(m.X_W[i].R * at.X_LB.R), to_vector3(point_of(m, at) + m.origin[i])};
}

Vector6 body_velocity(const Model& model, const Data& data, int body) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 2);
  const Attachment& at = attachment(model, body);
  if (at.link < 0) return Vector6::Zero();
  const Motion& V = m.V_W[at.link];
  return to_vector6(Motion{V.v + cross(V.w, point_of(m, at)), V.w});
}

Vector6 body_acceleration(const Model& model, const Data& data, int body) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 3);
  const Attachment& at = attachment(model, body);
  if (at.link < 0) return Vector6::Zero();
  const auto i = static_cast<std::size_t>(at.link);
  const Motion& V = m.V_W[i];
  const Motion& A = m.A_W[i];
  const Vec4 p = point_of(m, at);
  // of the point that passes: the spatial acceleration's field, and the point's own way through the velocity's
  const Vec4 velocity = V.v + cross(V.w, p);
  return to_vector6(Motion{A.v + model.links().gravity + cross(A.w, p) + cross(V.w, velocity), A.w});
}

void body_jacobian(const Model& model, const Data& data, int body, Matrix6X& J) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 1);
  const Attachment& at = attachment(model, body);
  J.setZero(6, model.nv());
  if (at.link < 0) return;
  const Vec4 p = point_of(m, at);
  for_each_dof(model.links(), at.link, [&](int k) {
    const Motion& S = m.S[k];
    J.col(k) = to_vector6(Motion{S.v + cross(S.w, p), S.w});
  });
}

void body_jacobian_rate(const Model& model, const Data& data, int body, Matrix6X& J_dot) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 2);
  const Attachment& at = attachment(model, body);
  J_dot.setZero(6, model.nv());
  if (at.link < 0) return;
  const Vec4 p = point_of(m, at);
  const Motion& V = m.V_W[at.link];
  const Vec4 p_dot = V.v + cross(V.w, p);
  for_each_dof(model.links(), at.link, [&](int k) {
    const Motion S_dot = rate(model.links(), m, k);
    const Vec4 w = m.S[k].w;
    J_dot.col(k) = to_vector6(Motion{S_dot.v + cross(S_dot.w, p) + cross(w, p_dot), S_dot.w});
  });
}

Vector3 center_of_mass(const Model& model, const Data& data) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 1);
  Vec4 total = fixed_moment(model).first;
  const Links& tree = model.links();
  for (std::size_t i = 0; i < tree.links.size(); ++i)
    total += first_moment(m, tree.links[i], i) + tree.links[i].inertia.m * m.origin[i];
  return to_vector3(total) / positive_mass(model);
}

Vector3 center_of_mass_velocity(const Model& model, const Data& data) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 2);
  Vec4 total{};
  const Links& tree = model.links();
  for (std::size_t i = 0; i < tree.links.size(); ++i)
    total += tree.links[i].inertia.m * m.V_W[i].v + cross(m.V_W[i].w, first_moment(m, tree.links[i], i));
  return to_vector3(total) / positive_mass(model);
}

Vector3 center_of_mass_acceleration(const Model& model, const Data& data) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 3);
  Vec4 total{};
  const Links& tree = model.links();
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const double mass = tree.links[i].inertia.m;
    const Vec4 h = first_moment(m, tree.links[i], i);
    const Motion& V = m.V_W[i];
    const Motion& A = m.A_W[i];
    total += mass * (A.v + tree.gravity) + cross(A.w, h) + cross(V.w, mass * V.v + cross(V.w, h));
  }
  return to_vector3(total) / positive_mass(model);
}

void center_of_mass_jacobian(const Model& model, const Data& data, Matrix3X& J) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 1);
  const Links& tree = model.links();
  const double mass = positive_mass(model);
  J.setZero(3, model.nv());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    const Vec4 h = first_moment(m, link, i);
    for_each_dof(tree, static_cast<int>(i), [&](int k) {
      const Motion& S = m.S[k];
      J.col(k) += to_vector3(link.inertia.m * S.v + cross(S.w, h)) / mass;
    });
  }
}

void center_of_mass_jacobian_rate(const Model& model, const Data& data, Matrix3X& J_dot) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 2);
  const Links& tree = model.links();
  const double mass = positive_mass(model);
  J_dot.setZero(3, model.nv());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    const Vec4 h = first_moment(m, link, i);
    const Vec4 h_dot = link.inertia.m * m.V_W[i].v + cross(m.V_W[i].w, h);
    for_each_dof(tree, static_cast<int>(i), [&](int k) {
      const Motion S_dot = rate(tree, m, k);
      const Vec4 w = m.S[k].w;
      J_dot.col(k) += to_vector3(link.inertia.m * S_dot.v + cross(S_dot.w, h) + cross(w, h_dot)) / mass;
    });
  }
}

Vector6 wrench_at(const Vector3& point, const Vector3& force, const Vector3& torque) {
  Vector6 out;
  out << force, torque + point.cross(force);
  return out;
}

}  // namespace tangere
