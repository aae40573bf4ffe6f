/// With k's link hanging from p (inverse_dynamics_derivatives.cpp), in world axes about the tree's origin,
///
///   δ_q V = S × (V - V_p),   δ_q A = S × (A - A_p) - (S × V_p) × (V - V_p),   δ_v A = Ṡ + V_p × S + S × V
///
/// and the body's origin x moves along: u = v + w × x is its velocity, and v̇ + ẇ × x + w × u its acceleration.

#include "tangere/multibody/kinematics_derivatives.hpp"

#include "tangere/math/error.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

Vec4 at_point(const Motion& a, Vec4 x) { return a.v + cross(a.w, x); }

}  // namespace

void body_motion_derivatives(const Model& model, const Data& data, int body, BodyMotionDerivatives& out) {
  const Data::Memory& m = memory_of(model, data);
  if (m.world_order < 3) throw InputError("data", "call forward_kinematics with v and a first");
  body_jacobian(model, data, body, out.jacobian);
  for (Matrix6X* matrix : {&out.velocity_d_q, &out.acceleration_d_q, &out.acceleration_d_v})
    matrix->setZero(6, model.nv());
  const Links& tree = model.links();
  const Attachment& at = tree.bodies[body];
  if (at.link < 0) return;
  const auto i = static_cast<std::size_t>(at.link);
  const Motion& V = m.V_W[i];
  const Motion& A = m.A_W[i];
  const Vec4 x = m.X_W[i].R * at.X_LB.p + m.X_W[i].p;
  const Vec4 u = at_point(V, x);
  for (int k = tree[at.link].v + tree[at.link].nv - 1; k >= 0; k = tree.parent_dof[k]) {
    const auto kk = static_cast<std::size_t>(k);
    const auto own = static_cast<std::size_t>(tree.link_of_dof[kk]);
    const int before = tree.links[own].parent;
    const Motion V_p = before < 0 ? Motion{} : m.V_W[before];
    const Motion A_p = before < 0 ? Motion{-tree.gravity, Vec4{}} : m.A_W[before];
    const Motion& S = m.S[kk];
    const Vec4 dx = at_point(S, x);
    const Motion dV = cross(S, V - V_p);
    const Motion dA = cross(S, A - A_p) - cross(cross(S, V_p), V - V_p);
    const Vec4 du = at_point(dV, x) + cross(V.w, dx);
    out.velocity_d_q.col(k) = to_vector6(Motion{du, dV.w});
    out.acceleration_d_q.col(k) =
        to_vector6(Motion{at_point(dA, x) + cross(A.w, dx) + cross(dV.w, u) + cross(V.w, du), dA.w});
    const Motion dA_v = cross(m.V_W[own], S) + cross(V_p, S) + cross(S, V);
    out.acceleration_d_v.col(k) = to_vector6(Motion{at_point(dA_v, x) + cross(S.w, u) + cross(V.w, dx), dA_v.w});
  }
}

}  // namespace tangere
