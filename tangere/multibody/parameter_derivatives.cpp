/// Derivatives with respect to parameters.
///
/// A change dI of a body's inertia gives the force dI A + V ×* dI V at its link. A change of a joint's placement
/// carries all that is beyond it by a twist, exactly as a coordinate just before the joint would: the formulas of
/// inverse_dynamics_derivatives.cpp hold with that twist for S_k, also for fixed joints, whose bodies ride on their
/// parent's link.

#include "tangere/multibody/parameter_derivatives.hpp"

#include <algorithm>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/internal/link_columns.hpp"
#include "tangere/multibody/internal/links_builder.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {
namespace {

using Kind = Parameter::Kind;

constexpr int kRow[6] = {0, 1, 2, 0, 0, 1};
constexpr int kColumn[6] = {0, 1, 2, 1, 2, 2};

SpatialInertia unit_moment(int k) {
  SpatialInertia out;
  if (k == 0) {
    out.m = 1.0;
  } else if (k < 4) {
    out.h[k - 1] = 1.0;
  } else {
    out.I.c[kColumn[k - 4]][kRow[k - 4]] = 1.0;
    out.I.c[kRow[k - 4]][kColumn[k - 4]] = 1.0;
  }
  return out;
}

/// d(spatial inertia about the body's origin) / d(parameter).
SpatialInertia moment_derivative(const MassProperties& body, const Parameter& p) {
  const Vec4 c = to_vec4(body.center);
  SpatialInertia out;
  switch (p.kind) {
    case Kind::mass:
      out.m = 1.0;
      out.h = c;
      out.I = second_moment(c, c);
      return out;
    case Kind::center: {
      Vec4 e{};
      e[p.component] = body.mass;
      out.h = e;
      const Columns3 half = second_moment(e, c);
      out.I = half + half.transposed();
      return out;
    }
    default:
      return unit_moment(4 + p.component);
  }
}

/// The world pass at a state, and what each column of the result is made of.
class Columns {
 public:
  Columns(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument a,
          std::span<const Vector6> wrenches)
      : model_(model), tree_(model.links()), m_(memory_of(model, data)) {
    require_configuration(model, q);
    require_vector("v", v, model.nv());
    require_vector("a", a, model.nv());
    require_wrenches(model, wrenches);
    place_links(tree_, q.data(), m_);
    place_in_world(tree_, m_);
    sweep_outwards(tree_, v.data(), a.data(), m_);
    m_.world_order = 3;
  }

  /// The force of a change of inertia of a body (in its frame), felt by all coordinates on its way to the root.
  void add_inertia(int body, const SpatialInertia& dI, Eigen::Ref<VectorX> column) const {
    const Attachment& at = tree_.bodies[body];
    if (at.link < 0) return;
    const auto i = static_cast<std::size_t>(at.link);
    const SpatialInertia in_world = transformed(m_.X_W[i] * at.X_LB, dI);
    const Force F = in_world * m_.A_W[i] + cross_force(m_.V_W[i], in_world * m_.V_W[i]);
    for (int k = tree_[at.link].v + tree_[at.link].nv - 1; k >= 0; k = tree_.parent_dof[k])
      column[k] += dot(m_.S[k], F);
  }

  /// Loads of links and of bodies, for placements.
  void hang(std::span<const Vector6> wrenches) {
    const auto n = static_cast<std::size_t>(model_.num_bodies());
    std::fill(m_.body_loads.begin(), m_.body_loads.end(), Load{});
    std::fill(m_.link_loads.begin(), m_.link_loads.end(), Load{});
    for (std::size_t b = n; b-- > 0;) {
      const Attachment& at = tree_.bodies[b];
      if (at.link < 0) continue;
      const auto i = static_cast<std::size_t>(at.link);
      Load own;
      own.I = transformed(m_.X_W[i] * at.X_LB, spatial_inertia(model_.body(static_cast<int>(b)).spec.inertia));
      const Force momentum = own.I * m_.V_W[i];
      own.P = momentum.f;
      own.C = coriolis_matrix(own.I, m_.V_W[i]);
      own.F = own.I * m_.A_W[i] + cross_force(m_.V_W[i], momentum);
      if (!wrenches.empty()) {
        own.W = to_force(wrenches[b]);
        own.W.n -= cross(m_.origin[i], own.W.f);
      }
      m_.body_loads[b] += own;
      m_.link_loads[i] += own;
      const int parent = model_.body(static_cast<int>(b)).parent;
      if (parent != kWorld) m_.body_loads[parent] += m_.body_loads[b];
    }
    for (std::size_t i = tree_.links.size(); i-- > 0;) {
      const int parent = tree_.links[i].parent;
      if (parent >= 0) m_.link_loads[parent] += m_.link_loads[i];
    }
  }

  /// The placement of body b's joint moved along one of its six components.
  void add_placement(int b, int component, Eigen::Ref<VectorX> column) {
    // the parent's body and link; what is fixed to the world moves nothing but what hangs from it
    const int parent_body = model_.body(b).parent;
    const Attachment world{};
    const Attachment& parent = parent_body == kWorld ? world : tree_.bodies[parent_body];
    const JointSpec& joint = model_.joint(b).spec;
    // about the origin of the tree that hangs from it
    const int first = first_link_beyond(b);
    if (first < 0) return;
    const Vec4 origin = m_.origin[first];
    Frame X_WP = parent.X_LB;
    X_WP.p -= origin;
    Motion V_p;
    Motion A_p{-tree_.gravity, Vec4{}};
    if (parent.link >= 0) {
      const auto i = static_cast<std::size_t>(parent.link);
      X_WP = m_.X_W[i] * parent.X_LB;
      V_p = m_.V_W[i];
      A_p = m_.A_W[i];
    }
    const Motion S = twist(X_WP, joint.X_PJ, component);
    const Motion psi_dot = cross(V_p, S);
    const Motion psi_dot_dot = cross(A_p, S) + cross(V_p, psi_dot);
    mark_beyond(b);
    for (int j = 0; j < model_.nv(); ++j) {
      if (!m_.beyond[j]) continue;
      const auto link = static_cast<std::size_t>(tree_.link_of_dof[j]);
      // trees that hang from one fixed body have an origin each
      const Vec4 shift = m_.origin[link] - origin;
      const auto moved = [&](const Motion& a) { return Motion{a.v + cross(a.w, shift), a.w}; };
      const Load& load = m_.link_loads[link];
      Force dF = force(load, moved(psi_dot), moved(psi_dot_dot));
      dF += cross_force(moved(S), load.W);
      column[j] += dot(m_.S[j], dF);
    }
    if (parent.link < 0) return;
    const Load& load = m_.body_loads[b];
    const Force dF = force(load, psi_dot, psi_dot_dot) + cross_force(S, load.F);
    for (int k = tree_[parent.link].v + tree_[parent.link].nv - 1; k >= 0; k = tree_.parent_dof[k])
      column[k] += dot(m_.S[k], dF);
  }

  /// A change of gravity along an axis.
  void add_gravity(int axis, Eigen::Ref<VectorX> column) const {
    Motion up;
    up.v[axis] = -1.0;
    for (int j = 0; j < model_.nv(); ++j) {
      const auto jj = static_cast<std::size_t>(j);
      const Load& load = m_.link_loads[tree_.link_of_dof[jj]];
      column[j] += dot(m_.S[jj], load.I * up);
    }
  }

 private:
  static Force force(const Load& load, const Motion& psi_dot, const Motion& psi_dot_dot) {
    Force dF = load.I * psi_dot_dot;
    dF.f += 2.0 * cross(psi_dot.w, load.P);
    dF.n += load.C * psi_dot.w;
    return dF;
  }

  static Motion twist(const Frame& X_WP, const Pose& X_PJ, int component) {
    if (component < 3) return {X_WP.R.c[component], Vec4{}};
    // R_PJ exp(J_r dφ)
    const Vector3 turn = so3::right_jacobian(so3::log(X_PJ.R)).col(component - 3);
    const Vec4 w = X_WP.R * to_vec4(X_PJ.R * turn);
    const Vec4 p = X_WP.R * to_vec4(X_PJ.p) + X_WP.p;
    return {cross(p, w), w};
  }

  /// The body and all that hang from it.
  [[nodiscard]] bool hangs_from(int body, int b) const {
    while (body > b) body = model_.body(body).parent;
    return body == b;
  }
  [[nodiscard]] int first_link_beyond(int b) const {
    for (int body = b; body < model_.num_bodies(); ++body) {
      const int link = tree_.bodies[body].link;
      if (link >= 0 && hangs_from(body, b)) return link;
    }
    return -1;
  }
  void mark_beyond(int b) {
    std::fill(m_.beyond.begin(), m_.beyond.end(), false);
    for (int body = b; body < model_.num_bodies(); ++body) {
      if (!hangs_from(body, b)) continue;
      const Joint& joint = model_.joint(body);
      for (int k = 0; k < joint.nv; ++k) m_.beyond[joint.first_v + k] = true;
    }
  }

  const Model& model_;
  const Links& tree_;
  Data::Memory& m_;
};

}  // namespace

void inverse_dynamics_parameter_derivatives(const Model& model, Data& data, VectorArgument q, VectorArgument v,
                                            VectorArgument a, std::span<const Parameter> parameters, MatrixX& out,
                                            std::span<const Vector6> wrenches) {
  for (const Parameter& p : parameters) require_parameter(model, p);
  Columns columns(model, data, q, v, a, wrenches);
  columns.hang(wrenches);
  out.setZero(model.nv(), static_cast<Eigen::Index>(parameters.size()));
  const Links& tree = model.links();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    auto column = out.col(static_cast<Eigen::Index>(i));
    const auto k = static_cast<std::size_t>(p.index);
    switch (p.kind) {
      case Kind::mass:
      case Kind::center:
      case Kind::inertia:
        columns.add_inertia(p.index, moment_derivative(model.body(p.index).spec.inertia, p), column);
        break;
      case Kind::placement:
        columns.add_placement(p.index, p.component, column);
        break;
      case Kind::gravity:
        columns.add_gravity(p.component, column);
        break;
      case Kind::damping:
        column[p.index] = v[p.index];
        break;
      case Kind::stiffness:
        column[p.index] = q[tree.q_of_dof[k]] - tree.rest[k];
        break;
      case Kind::rest:
        column[p.index] = -tree.stiffness[k];
        break;
      case Kind::armature:
        column[p.index] = a[p.index];
        break;
    }
  }
}

void forward_dynamics_parameter_derivatives(const Model& model, Data& data, VectorArgument q, VectorArgument v,
                                            VectorArgument tau, std::span<const Parameter> parameters, MatrixX& out,
                                            std::span<const Vector6> wrenches) {
  const VectorX& a = forward_dynamics(model, data, q, v, tau, wrenches);
  inverse_dynamics_parameter_derivatives(model, data, q, v, a, parameters, out, wrenches);
  (void)mass_matrix(model, data, q);
  factor_mass_matrix(model, data);
  for (Eigen::Index i = 0; i < out.cols(); ++i) {
    out.col(i) *= -1.0;
    solve_mass_matrix(model, data, out.col(i));
  }
}

void inertial_regressor(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument a,
                        MatrixX& Y) {
  const Columns columns(model, data, q, v, a, {});
  Y.setZero(model.nv(), 10 * model.num_bodies());
  for (int b = 0; b < model.num_bodies(); ++b)
    for (int k = 0; k < 10; ++k) columns.add_inertia(b, unit_moment(k), Y.col(10 * b + k));
}

VectorX inertial_moments(const Model& model) {
  VectorX out(10 * model.num_bodies());
  for (int b = 0; b < model.num_bodies(); ++b) {
    const SpatialInertia I = spatial_inertia(model.body(b).spec.inertia);
    auto moments = out.segment<10>(10 * b);
    moments[0] = I.m;
    for (int k = 0; k < 3; ++k) moments[1 + k] = I.h[k];
    for (int k = 0; k < 6; ++k) moments[4 + k] = I.I.c[kColumn[k]][kRow[k]];
  }
  return out;
}

}  // namespace tangere
