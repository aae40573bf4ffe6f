/// Recursive Newton-Euler in the links' own frames (Featherstone, "Rigid Body Dynamics Algorithms", 2008, table 5.1):
/// velocities and accelerations outwards, forces inwards. Gravity is an upward acceleration of the world.

#include "tangere/multibody/inverse_dynamics.hpp"

#include "tangere/multibody/internal/data_memory.hpp"
#include "tangere/multibody/internal/link_motion.hpp"
#include "tangere/multibody/internal/passive_forces.hpp"

namespace tangere {
namespace {

template <bool kAccelerates>
void newton_euler(const Model& model, Data::Memory& m, const double* q, const double* v, const double* a,
                  std::span<const Vector6> wrenches, double* tau) {
  const Links& tree = model.links();
  const std::size_t n = tree.links.size();
  if (!wrenches.empty()) {
    place_links(tree, q, m);
    place_in_world(tree, m);
    gather_wrenches(tree, wrenches, m);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = tree.links[i];
    const Frame X = wrenches.empty() ? link_frame(link, q + link.q) : m.X[i];
    m.X[i] = X;
    const Motion own = link_motion(link, v + link.v);
    Motion V = own;
    Motion A;
    if (link.parent < 0) {
      A.v = X.Rt * -tree.gravity;
    } else {
      const auto parent = static_cast<std::size_t>(link.parent);
      V += to_child(X, m.V[parent]);
      A = to_child(X, m.A[parent]);
      A += cross(V, own);
    }
    if constexpr (kAccelerates) A += link_motion(link, a + link.v);
    m.V[i] = V;
    m.A[i] = A;
    m.F[i] = link.inertia * A + cross_force(V, link.inertia * V);
    if (!wrenches.empty()) {
      const Force& W = m.wrench_W[i];
      const Frame& X_W = m.X_W[i];
      m.F[i] -= Force{X_W.Rt * W.f, X_W.Rt * (W.n - cross(X_W.p, W.f))};
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    const Link& link = tree.links[i];
    project(link, m.F[i], tau + link.v);
    if (link.parent >= 0) m.F[link.parent] += to_parent(m.X[i], m.F[i]);
  }
  if constexpr (kAccelerates)
    for (int k = 0; k < model.nv(); ++k) tau[k] += tree.armature[k] * a[k];
  if (tree.has_passive) subtract_passive_forces(tree, q, v, tau);
}

}  // namespace

const VectorX& inverse_dynamics(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument a,
                                std::span<const Vector6> wrenches) {
  require_configuration(model, q);
  require_vector("v", v, model.nv());
  require_vector("a", a, model.nv());
  require_wrenches(model, wrenches);
  Data::Memory& m = memory_of(model, data);
  newton_euler<true>(model, m, q.data(), v.data(), a.data(), wrenches, m.tau.data());
  return m.tau;
}

const VectorX& bias_forces(const Model& model, Data& data, VectorArgument q, VectorArgument v,
                           std::span<const Vector6> wrenches) {
  require_configuration(model, q);
  require_vector("v", v, model.nv());
  require_wrenches(model, wrenches);
  Data::Memory& m = memory_of(model, data);
  newton_euler<false>(model, m, q.data(), v.data(), nullptr, wrenches, m.bias_tau.data());
  return m.bias_tau;
}

}  // namespace tangere
