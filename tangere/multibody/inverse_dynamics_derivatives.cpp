/// Derivatives of inverse dynamics, in world axes about the tree's origin, where nothing has to be transformed.
///
/// Moving q along coordinate k carries everything beyond it by the twist S_k. With p the link before k's,
///
///   δV_i = S_k × (V_i - V_p),   δA_i = S_k × (A_i - A_p) - (S_k × V_p) × (V_i - V_p)
///   δF_i = S_k ×* F_i + I_i ψ̈_k + B_i ψ̇_k,      ψ̇_k = V_p × S_k,   ψ̈_k = A_p × S_k + V_p × ψ̇_k
///   B_i x = I_i (x × V_i) + x ×* I_i V_i + V_i ×* I_i x
///
/// and moving v along it: δF_i = I_i (Ṡ_k + ψ̇_k) + B_i S_k. F, I and B add up over what hangs from a link (superscript
/// C), so that, with j on k's way to the root or k itself,
///
///   ∂τ_k/∂q_j = S_k · (I_k^C ψ̈_j + B_k^C ψ̇_j)           ∂τ_k/∂v_j = S_k · (I_k^C (Ṡ_j + ψ̇_j) + B_k^C S_j)
///   ∂τ_j/∂q_k = S_j · (S_k ×* F_k^C + I_k^C ψ̈_k + B_k^C ψ̇_k)   ∂τ_j/∂v_k = S_j · (I_k^C (Ṡ_k + ψ̇_k) + B_k^C S_k)
///
/// B is simpler than it looks: by the Jacobi identity its linear columns vanish, and with the momentum's linear part
/// P = m v - h × w,
///
///   B (a, b) = ( 2 b × P,   tr(I) b × w + 2 w × (I b) + 2 h × (b × v) )
///
/// three numbers and a 3 x 3 matrix a link.

#include "tangere/multibody/inverse_dynamics_derivatives.hpp"

#include <algorithm>

#include "tangere/multibody/internal/data_memory.hpp"
#include "tangere/multibody/internal/link_columns.hpp"
#include "tangere/multibody/internal/link_motion.hpp"
#include "tangere/multibody/internal/passive_forces.hpp"

namespace tangere {

void sweep_outwards(const Links& tree, const double* v, const double* a, Data::Memory& m) {
  const Motion world{-tree.gravity, Vec4{}};
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    Motion V_p;
    Motion A_p = world;
    if (link.parent >= 0) {
      V_p = m.V_W[link.parent];
      A_p = m.A_W[link.parent];
    }
    Motion own;
    Motion own_acceleration;
    for (int k = link.v; k < link.v + link.nv; ++k) {
      own += m.S[k] * v[k];
      own_acceleration += m.S[k] * a[k];
    }
    const Motion V = V_p + own;
    const Motion A = A_p + own_acceleration + cross(V, own);
    m.V_W[i] = V;
    m.A_W[i] = A;
    for (int k = link.v; k < link.v + link.nv; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const Motion& S = m.S[at];
      const Motion psi_dot = cross(V_p, S);
      m.psi_dot[at] = psi_dot;
      m.psi_dot_dot[at] = cross(A_p, S) + cross(V_p, psi_dot);
      m.S_dot_plus[at] = link.nv == 1 ? psi_dot * 2.0 : cross(V, S) + psi_dot;
    }
    const SpatialInertia I = transformed(m.X_W[i], link.inertia);
    const Force momentum = I * V;
    m.composite[i] = I;
    m.momentum[i] = momentum.f;
    m.coriolis[i] = coriolis_matrix(I, V);
    m.F_W[i] = I * A + cross_force(V, momentum);
  }
}

InverseDynamicsDerivatives inverse_dynamics_derivatives(const Model& model, Data& data, VectorArgument q,
                                                        VectorArgument v, VectorArgument a,
                                                        std::span<const Vector6> wrenches) {
  require_configuration(model, q);
  require_vector("v", v, model.nv());
  require_vector("a", a, model.nv());
  require_wrenches(model, wrenches);
  Data::Memory& m = memory_of(model, data);
  const Links& tree = model.links();
  place_links(tree, q.data(), m);
  place_in_world(tree, m);
  sweep_outwards(tree, v.data(), a.data(), m);
  m.world_order = 3;
  const bool pushed = !wrenches.empty();
  if (pushed) gather_wrenches(tree, wrenches, m);

  const Eigen::Index nv = model.nv();
  m.dtau_dq.setZero(nv, nv);
  m.dtau_dv.setZero(nv, nv);
  double* dq = m.dtau_dq.data();
  double* dv = m.dtau_dv.data();
  for (int i = tree.size() - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const Link& link = tree[i];
    const SpatialInertia& I = m.composite[at];
    const Vec4 P = m.momentum[at];
    const Columns3& C = m.coriolis[at];
    const Columns3 Ct = C.transposed();
    const Force& F = m.F_W[at];
    const int last = link.v + link.nv - 1;
    for (int k = link.v; k <= last; ++k) {
      const auto kk = static_cast<std::size_t>(k);
      const Motion& S = m.S[kk];
      const Force IS = I * S;
      const Vec4 BtS = 2.0 * cross(P, S.v) + Ct * S.w;
      const Motion& psi_dot = m.psi_dot[kk];
      Force dF_q = cross_force(S, F) + I * m.psi_dot_dot[kk];
      dF_q.f += 2.0 * cross(psi_dot.w, P);
      dF_q.n += C * psi_dot.w;
      Force dF_v = I * m.S_dot_plus[kk];
      dF_v.f += 2.0 * cross(S.w, P);
      dF_v.n += C * S.w;
      double tau = dot(S, F);
      Vec4 pushed_torque[2] = {};
      if (pushed) {
        const Force& W = m.wrench_W[at];
        tau -= dot(S, W);
        // S_k · (S_j ×* W) = -S_j · (S_k ×* W)
        const Force turned = cross_force(S, W);
        pushed_torque[0] = turned.f;
        pushed_torque[1] = turned.n;
      }
      m.tau[k] = tau;
      double* row_dq = dq + k * nv;
      double* row_dv = dv + k * nv;
      double* row_M = m.M_rows.data() + static_cast<std::ptrdiff_t>(k) * tree.stride;
      const int* way = tree.way_to(last);
      const int own = tree.way_length[k];
      const int length = tree.way_length[last];
      for (int e = 0; e < length; ++e) {
        const int j = way[e];
        const auto jj = static_cast<std::size_t>(j);
        const Motion& S_j = m.S[jj];
        const Motion& psi_dot_dot = m.psi_dot_dot[jj];
        const Motion& plus = m.S_dot_plus[jj];
        Vec4 row_q = IS.f * psi_dot_dot.v + IS.n * psi_dot_dot.w + BtS * m.psi_dot[jj].w;
        if (pushed) row_q -= pushed_torque[0] * S_j.v + pushed_torque[1] * S_j.w;
        const Vec4 row_v = IS.f * plus.v + IS.n * plus.w + BtS * S_j.w;
        const Vec4 values = sums(row_q, row_v, S_j.v * dF_q.f + S_j.w * dF_q.n, S_j.v * dF_v.f + S_j.w * dF_v.n);
        row_dq[j] = values[0];
        row_dv[j] = values[1];
        if (j < link.v) {
          dq[j * nv + k] = values[2];
          dv[j * nv + k] = values[3];
        }
        if (e < own) row_M[e] = sum(IS.f * S_j.v + IS.n * S_j.w);
      }
      row_M[own - 1] += tree.armature[kk];
    }
    if (link.parent < 0) continue;
    const auto parent = static_cast<std::size_t>(link.parent);
    m.composite[parent] += I;
    m.momentum[parent] += P;
    m.coriolis[parent] += C;
    m.F_W[parent] += F;
    if (pushed) m.wrench_W[parent] += m.wrench_W[at];
  }
  for (Eigen::Index k = 0; k < nv; ++k) {
    const auto kk = static_cast<std::size_t>(k);
    m.tau[k] += tree.armature[kk] * a[k];
    dq[k * nv + k] += tree.stiffness[kk];
    dv[k * nv + k] += tree.damping[kk];
  }
  if (tree.has_passive) subtract_passive_forces(tree, q.data(), v.data(), m.tau.data());
  spread_mass_matrix(tree, m);
  return {m.dtau_dq, m.dtau_dv, m.M};
}

const VectorX& inverse_dynamics_value(const Data& data) { return data.memory().tau; }

}  // namespace tangere
