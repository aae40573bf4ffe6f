/// Articulated bodies in the links' own frames (Featherstone 2008, table 7.1). For each link, from the leaves:
///
///   U = I_A S,   D = Sᵀ U + armature,   u = τ - Sᵀ p_A
///   I_a = I_A - U D⁻¹ Uᵀ,   p_a = p_A + I_a (V × S v) + U D⁻¹ u         handed to the parent
///   a = D⁻¹ (u - Uᵀ A),   A = A_parent + V × S v                         outwards again
///
/// Links of one coordinate (all but ball and free) have scalars for D.

#include "tangere/multibody/forward_dynamics.hpp"

#include <Eigen/Cholesky>

#include "tangere/multibody/internal/data_memory.hpp"
#include "tangere/multibody/internal/link_motion.hpp"
#include "tangere/multibody/internal/passive_forces.hpp"

namespace tangere {
namespace {

Vec4 row(const Columns3& M, int i) { return vec3(M.c[0][i], M.c[1][i], M.c[2][i]); }
Columns3 outer(Vec4 a, Vec4 b) { return {{a * b[0], a * b[1], a * b[2]}}; }

ArticulatedInertia articulated(const SpatialInertia& I) {
  const Vec4 h = -I.h;
  return {{{vec3(I.m, 0.0, 0.0), vec3(0.0, I.m, 0.0), vec3(0.0, 0.0, I.m)}}, hat(h), I.I};
}

Force product(const ArticulatedInertia& I, const Motion& a) {
  const Vec4 Btv = sums(I.B.c[0] * a.v, I.B.c[1] * a.v, I.B.c[2] * a.v, Vec4{});
  return {I.A * a.v + I.B * a.w, Btv + I.D * a.w};
}

void add_to_parent(const Frame& X, const ArticulatedInertia& I, ArticulatedInertia& parent) {
  const Columns3 A = X.R * I.A * X.Rt;
  const Columns3 B = X.R * I.B * X.Rt;
  const Columns3 D = X.R * I.D * X.Rt;
  const Columns3 P = hat(X.p);
  const Columns3 moved = B - A * P;
  parent.A += A;
  parent.B += moved;
  // P moved: p × each column
  const Columns3 lifted{{cross(X.p, moved.c[0]), cross(X.p, moved.c[1]), cross(X.p, moved.c[2])}};
  parent.D += D - B.transposed() * P + lifted;
}

void subtract_outer(const Force& a, const Force& b, ArticulatedInertia& I) {
  I.A = I.A - outer(a.f, b.f);
  I.B = I.B - outer(a.f, b.n);
  I.D = I.D - outer(a.n, b.n);
}

/// The columns I_A S of a link of several coordinates, and D⁻¹ applied.
template <int N>
struct Several {
  using Matrix = Eigen::Matrix<double, N, N>;
  using Vector = Eigen::Matrix<double, N, 1>;
};

/// U, D⁻¹ Uᵀ and D⁻¹ u of ball and free links.
template <int N>
void eliminate_several(const Links& tree, const Link& link, Data::Memory& m, ArticulatedInertia& I, bool hand_on) {
  Motion S[N];
  motion_columns(link, S);
  typename Several<N>::Matrix D;
  typename Several<N>::Vector u;
  for (int k = 0; k < N; ++k) {
    const auto at = static_cast<std::size_t>(link.v + k);
    m.U[at] = product(I, S[k]);
    u[k] = m.u[at];
  }
  for (int k = 0; k < N; ++k) {
    for (int j = 0; j < N; ++j) D(j, k) = dot(S[j], m.U[link.v + k]);
    D(k, k) += tree.armature[link.v + k];
  }
  const Eigen::LLT<typename Several<N>::Matrix> factors(D);
  for (int k = 0; k < N; ++k) {
    const double pivot = factors.matrixLLT()(k, k);
    m.d[link.v + k] = factors.info() == Eigen::Success ? pivot * pivot : 0.0;
  }
  const typename Several<N>::Vector Du = factors.solve(u);
  const typename Several<N>::Matrix inverse = factors.solve(Several<N>::Matrix::Identity());
  // V_k = Σ_j D⁻¹(k, j) U_j: kept where the way back needs it
  Force DU[N];
  for (int k = 0; k < N; ++k) {
    DU[k] = Force{};
    for (int j = 0; j < N; ++j) DU[k] += m.U[link.v + j] * inverse(k, j);
  }
  if (hand_on)
    for (int k = 0; k < N; ++k) subtract_outer(m.U[link.v + k], DU[k], I);
  for (int k = 0; k < N; ++k) {
    const auto at = static_cast<std::size_t>(link.v + k);
    m.u[at] = Du[k];
    m.U[at] = DU[k];
  }
}

}  // namespace

void articulated_bodies(const Model& model, VectorArgument q, VectorArgument v, VectorArgument tau,
                        std::span<const Vector6> wrenches, Data::Memory& m) {
  const Links& tree = model.links();
  const std::size_t n = tree.links.size();

  // the force that is left for the bodies: τ without springs and dampers
  double* net = m.scratch.data();
  std::fill_n(net, model.nv(), 0.0);
  if (tree.has_passive) subtract_passive_forces(tree, q.data(), v.data(), net);
  for (int k = 0; k < model.nv(); ++k) net[k] = tau[k] - net[k];

  if (!wrenches.empty()) {
    place_links(tree, q.data(), m);
    place_in_world(tree, m);
    gather_wrenches(tree, wrenches, m);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = tree.links[i];
    if (wrenches.empty()) m.X[i] = link_frame(link, q.data() + link.q);
    const Motion own = link_motion(link, v.data() + link.v);
    Motion V = own;
    if (link.parent >= 0) V += to_child(m.X[i], m.V[link.parent]);
    m.V[i] = V;
    m.bias[i] = cross(V, own);
    m.articulated[i] = articulated(link.inertia);
    m.bias_force[i] = cross_force(V, link.inertia * V);
    if (!wrenches.empty()) {
      const Force& W = m.wrench_W[i];
      const Frame& X_W = m.X_W[i];
      m.bias_force[i] -= Force{X_W.Rt * W.f, X_W.Rt * (W.n - cross(X_W.p, W.f))};
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    const Link& link = tree.links[i];
    ArticulatedInertia& I = m.articulated[i];
    Force& p = m.bias_force[i];
    const auto at = static_cast<std::size_t>(link.v);
    project(link, p, m.u.data() + at);
    for (int k = 0; k < link.nv; ++k)
      m.u[at + static_cast<std::size_t>(k)] = net[link.v + k] - m.u[at + static_cast<std::size_t>(k)];
    const bool hand_on = link.parent >= 0;
    if (link.nv == 1) {
      Force U;
      switch (link.kind) {
        case Link::Kind::prismatic:
          U = {I.A.c[2], row(I.B, 2)};
          break;
        case Link::Kind::screw:
          U = {I.B.c[2] + link.pitch * I.A.c[2], I.D.c[2] + link.pitch * row(I.B, 2)};
          break;
        default:
          U = {I.B.c[2], I.D.c[2]};
          break;
      }
      double D;
      project(link, U, &D);
      D += tree.armature[at];
      m.d[at] = D;
      const double inverse = 1.0 / D;
      const Force DU = U * inverse;
      m.u[at] *= inverse;
      m.U[at] = DU;
      if (hand_on) {
        subtract_outer(DU, U, I);
        p += product(I, m.bias[i]) + U * m.u[at];
      }
    } else {
      if (link.nv == 3) {
        eliminate_several<3>(tree, link, m, I, hand_on);
      } else {
        eliminate_several<6>(tree, link, m, I, hand_on);
      }
      if (hand_on) {
        // U D⁻¹ u = Σ (D⁻¹ U)_k u_k with the u before it was divided
        Force push = product(I, m.bias[i]);
        double before[6];
        project(link, m.bias_force[i], before);
        for (int k = 0; k < link.nv; ++k) push += m.U[at + static_cast<std::size_t>(k)] * (net[link.v + k] - before[k]);
        p += push;
      }
    }
    if (!hand_on) continue;
    const auto parent = static_cast<std::size_t>(link.parent);
    add_to_parent(m.X[i], I, m.articulated[parent]);
    m.bias_force[parent] += to_parent(m.X[i], p);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = tree.links[i];
    Motion A{-tree.gravity, Vec4{}};
    if (link.parent >= 0) A = m.A[link.parent];
    A = to_child(m.X[i], A);
    A += m.bias[i];
    double* a = m.acceleration.data() + link.v;
    for (int k = 0; k < link.nv; ++k) {
      const auto at = static_cast<std::size_t>(link.v + k);
      a[k] = m.u[at] - dot(A, m.U[at]);
    }
    m.A[i] = A + link_motion(link, a);
  }
}

const VectorX& forward_dynamics(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument tau,
                                std::span<const Vector6> wrenches) {
  require_configuration(model, q);
  require_vector("v", v, model.nv());
  require_vector("tau", tau, model.nv());
  require_wrenches(model, wrenches);
  Data::Memory& m = memory_of(model, data);
  articulated_bodies(model, q, v, tau, wrenches, m);
  return m.acceleration;
}

}  // namespace tangere
