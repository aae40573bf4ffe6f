#include "tangere/multibody/energy.hpp"

#include <Eigen/Geometry>

#include "tangere/math/error.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

void require_order(const Data::Memory& m, int order) {
  if (m.world_order < order)
    throw InputError("data", order == 1 ? "call forward_kinematics first" : "call forward_kinematics with v first");
}

/// From momentum about a tree's origin to momentum about a point (from that origin).
Force about(const Force& momentum, Vec4 point) { return {momentum.f, momentum.n - cross(point, momentum.f)}; }

}  // namespace

double kinetic_energy(const Model& model, const Data& data, VectorArgument v) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 2);
  require_vector("v", v, model.nv());
  const Links& tree = model.links();
  double twice = 0.0;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Motion& V = m.V_W[i];
    const Frame& X = m.X_W[i];
    const Motion own{X.Rt * (V.v + cross(V.w, X.p)), X.Rt * V.w};
    twice += dot(own, tree.links[i].inertia * own);
  }
  for (int k = 0; k < model.nv(); ++k) twice += tree.armature[k] * v[k] * v[k];
  return 0.5 * twice;
}

double potential_energy(const Model& model, const Data& data, VectorArgument q) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 1);
  require_configuration(model, q);
  const Links& tree = model.links();
  double energy = 0.0;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const SpatialInertia& inertia = tree.links[i].inertia;
    energy -= dot(tree.gravity, m.X_W[i].R * inertia.h + inertia.m * (m.X_W[i].p + m.origin[i]));
  }
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Attachment& at = tree.bodies[b];
    if (at.link >= 0) continue;
    const MassProperties& inertia = model.body(b).spec.inertia;
    energy -= inertia.mass * dot(tree.gravity, at.X_LB.R * to_vec4(inertia.center) + at.X_LB.p);
  }
  for (std::size_t k = 0; k < tree.stiffness.size(); ++k) {
    if (tree.stiffness[k] == 0.0) continue;
    const double stretch = q[tree.q_of_dof[k]] - tree.rest[k];
    energy += 0.5 * tree.stiffness[k] * stretch * stretch;
  }
  return energy;
}

Vector6 centroidal_momentum(const Model& model, const Data& data) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 2);
  const Vec4 center = to_vec4(center_of_mass(model, data));
  const Links& tree = model.links();
  Force total;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const SpatialInertia I = transformed(m.X_W[i], tree.links[i].inertia);
    total += about(I * m.V_W[i], center - m.origin[i]);
  }
  return to_vector6(total);
}

void centroidal_matrix(const Model& model, const Data& data, Matrix6X& A) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 1);
  const Vec4 center = to_vec4(center_of_mass(model, data));
  const Links& tree = model.links();
  A.setZero(6, model.nv());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const SpatialInertia I = transformed(m.X_W[i], tree.links[i].inertia);
    for (int k = tree.links[i].v + tree.links[i].nv - 1; k >= 0; k = tree.parent_dof[k])
      A.col(k) += to_vector6(about(I * m.S[k], center - m.origin[i]));
  }
}

void centroidal_matrix_rate(const Model& model, const Data& data, Matrix6X& A_dot) {
  const Data::Memory& m = memory_of(model, data);
  require_order(m, 2);
  const Vec4 center = to_vec4(center_of_mass(model, data));
  const Vec4 center_dot = to_vec4(center_of_mass_velocity(model, data));
  const Links& tree = model.links();
  A_dot.setZero(6, model.nv());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const SpatialInertia I = transformed(m.X_W[i], tree.links[i].inertia);
    const Motion& V = m.V_W[i];
    for (int k = tree.links[i].v + tree.links[i].nv - 1; k >= 0; k = tree.parent_dof[k]) {
      const auto at = static_cast<std::size_t>(k);
      const Motion& S = m.S[at];
      const Motion S_dot = cross(m.V_W[tree.link_of_dof[at]], S);
      // d(I S)/dt = V ×* I S - I (V × S) + I Ṡ
      const Force IS = I * S;
      const Force rate = cross_force(V, IS) + I * (S_dot - cross(V, S));
      Force moved = about(rate, center - m.origin[i]);
      moved.n -= cross(center_dot, IS.f);
      A_dot.col(k) += to_vector6(moved);
    }
  }
}

}  // namespace tangere
