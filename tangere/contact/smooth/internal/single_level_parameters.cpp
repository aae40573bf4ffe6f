/// r_θ of every parameter, then dv⁺ = −S⁻¹ r_θ.
///
///   inertia of a free body      its momenta; the centre also moves the levers, the mass their weights
///   inertia, springs, …         of trees: dt times the inverse dynamics' derivative
///   placement of a joint        of a free body: as its own position and attitude. Of a tree: everything beyond is
///                               carried by a twist S: sets with it, velocities by S × (V − V_parent), motions of the
///                               coordinates beyond by S × S_k
///   placement of a shape        the set is carried, nothing else
///   friction                    β₀ = friction γ
///   restitution                 what pairs that bounce or overlap keep apart (rebound.hpp), which placements and sizes
///                               move too, as they were before the step
///   size of a shape             its rows

#include <Eigen/Geometry>

#include "tangere/contact/pair_friction.hpp"
#include "tangere/contact/scene/link_moments.hpp"
#include "tangere/contact/smooth/single_level_derivatives.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/links.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"

namespace tangere {
namespace {

using Kind = SideBody::Kind;

}  // namespace

/// r_θ of one island, in units.
class SmoothParameterColumn {
 public:
  SmoothParameterColumn(SingleLevelContact& contact, SmoothIsland& island, const SingleLevelDerivatives& derivatives,
                        const Data& data, const SmoothLinearisation& step, const MatrixX& tree_columns, bool limited)
      : contact_(contact),
        model_(contact.model()),
        problem_(contact.problem()),
        island_(island),
        derivatives_(derivatives),
        data_(data),
        step_(step),
        tree_columns_(tree_columns),
        limited_(limited) {}

  void fill(const StepParameter& p, int index, double* r) {
    r_ = r;
    switch (p.kind) {
      case StepParameter::Kind::model:
        add_model(p.model, index);
        break;
      case StepParameter::Kind::friction:
      case StepParameter::Kind::pair_friction:
        add_friction(p);
        break;
      case StepParameter::Kind::restitution:
        add_restitution(p.shape);
        break;
      case StepParameter::Kind::shape_placement:
        add_shape(p);
        break;
      case StepParameter::Kind::shape_size:
        add_size(p);
        break;
    }
  }

 private:
  [[nodiscard]] bool has(int mover) const {
    for (const int i : island_.movers())
      if (i == mover) return true;
    return false;
  }

  void add_model(const Parameter& p, int index) {
    if (p.kind == Parameter::Kind::gravity) {
      for (const int i : island_.movers()) {
        const FreeMover& mover = problem_.free[i];
        const int place = island_.place_of(i);
        r_[place + p.component] -= mover.mass * mover.time_step / mover.units.impulse();
        if (limited_)
          limit_ -=
              mover.mass * mover.time_step * (mover.X_WL.R * contact_.energy().center_of(mover, place))[p.component];
      }
    } else if (is_inertial(p)) {
      const int mover = contact_.mover_of_body(p.index);
      if (mover >= 0 && has(mover)) add_inertia(mover, p);
      if (mover >= 0) return;
    } else if (p.kind == Parameter::Kind::placement) {
      const int mover = contact_.mover_of_body(p.index);
      if (mover >= 0 && model_.joint(p.index).nv == 6) {
        if (has(mover)) add_free_placement(mover, p);
        return;
      }
      if (mover >= 0 && has(mover)) add_inertia(mover, p);
      add_placement(p);
      if (island_.with_tree()) add_loop_placement(p);
      if (mover >= 0) return;
    } else {
      for (const int i : island_.movers()) {
        const FreeMover& mover = problem_.free[i];
        if (p.index >= mover.first_v && p.index < mover.first_v + 6) {
          add_free_damping(i, p);
          return;
        }
      }
    }
    if (island_.with_tree()) add_tree(index);
  }

  /// Dampers on the old velocity: −dt of the force − v.
  void add_free_damping(int mover, const Parameter& p) {
    if (p.kind != Parameter::Kind::damping) return;
    const int row = island_.place_of(mover);
    const auto n = static_cast<Eigen::Index>(island_.num_velocities());
    const auto r = derivatives_.r_.view();
    const int k = p.index - problem_.free[mover].first_v;
    for (int i = 0; i < 6; ++i) r_[row + i] -= step_.state.v[p.index] * r(row + i, 2 * n + row + k);
    if (limited_) limit_ -= step_.state.v[p.index] * derivatives_.limit_tau_[row + k];
  }

  void add_tree(int index) {
    const TreeMover& tree = *problem_.tree;
    for (int i = 0; i < tree.size(); ++i) {
      const int dof = tree.dofs()[i];
      r_[island_.tree_place() + i] += tree_columns_(dof, index) / problem_.units->momentum(dof);
      if (limited_) limit_ += contact_.energy().y()[island_.tree_place() + i] * tree_columns_(dof, index);
    }
  }

  /// By a parameter of a body, or of what is fixed to it.
  void add_inertia(int index, const Parameter& p) {
    const FreeMover& mover = problem_.free[index];
    const LinkMoments change = moment_change(model_, mover.moments(), p);
    own_ = {index, mover.velocity_after_change(change)};
    const Matrix3& R = mover.X_WL.R;
    const double dt = mover.time_step;
    const Vector3 W_old = R * step_.state.v.segment<3>(mover.first_v + 3);
    const Vector3 V_old = R * step_.state.v.segment<3>(mover.first_v);
    const Vector3 arm = R * change.center;
    const Vector3 before = V_old + W_old.cross(mover.arm) + dt * model_.gravity();
    const Vector3 swept = cayley_shift(dt * mover.W, arm);
    const Vector3 linear = change.mass * (mover.V_c - before) + mover.mass * (swept / dt - W_old.cross(arm));
    const Matrix3 J = R * change.inertia * R.transpose();
    // F of the step, without gravity
    const Vector3 F = (mover.linear_before - mover.mass * before) / dt;
    const Vector3 angular = midpoint_momentum(J, mover.W, dt) - J * W_old + dt * arm.cross(F);
    const int row = island_.place_of(index);
    Eigen::Map<Vector3>(r_ + row) += linear / mover.units.impulse();
    Eigen::Map<Vector3>(r_ + row + 3) += angular / (mover.units.impulse() * mover.units.length);
    if (limited_) limit_ += contact_.energy().by_moments(mover, row, model_.gravity(), change);

    // levers
    for_pairs([&](PairSlot& slot) {
      for (std::size_t j = 0; j < 2; ++j) {
        if (slot.sides[j].kind != Kind::free || slot.sides[j].index != index) continue;
        Vector3 shared = slot.weights[j] * swept;
        if (slot.sides[1 - j].kind == Kind::free && change.mass != 0.0) {
          const FreeMover& other = problem_.free[slot.sides[1 - j].index];
          const double total = mover.mass + other.mass;
          // the weight of this body is the other's part of the mass
          shared += dt * change.mass * other.mass / (total * total) * (other.V_c - mover.V_c);
        }
        for (std::size_t i = 0; i < 2; ++i) {
          if (slot.sides[i].kind != Kind::free) continue;
          Vector3 lever = -shared;
          if (i == j) lever -= arm;
          Vector6 W = Vector6::Zero();
          W.tail<3>() = (lever / slot.units.length).cross(slot.pair.impulse().head<3>());
          add_to_side(slot, i, W);
        }
      }
    });
  }

  /// As the body's own position and attitude.
  void add_free_placement(int index, const Parameter& p) {
    const FreeMover& mover = problem_.free[index];
    const Vector6 twist =
        placement_twist(pose(model_.body(p.index).parent), model_.joint(p.index).spec.X_PJ, p.component, mover.X_WL.p);
    const int row = island_.place_of(index);
    Vector6 d;
    d << mover.X_WL.R.transpose() * twist.head<3>(), mover.X_WL.R.transpose() * twist.tail<3>();
    const auto r = derivatives_.r_.view();
    for (int i = 0; i < island_.num_velocities(); ++i)
      for (int k = 0; k < 6; ++k) r_[i] += r(i, row + k) * d[k];
    if (limited_) limit_ += derivatives_.limit_q_.view().segment<6>(row).dot(d);
    turned_ = {index, d.tail<3>()};
  }

  /// The placement of a joint: everything beyond it is carried by a twist at the end of the step.
  void add_placement(const Parameter& p) {
    const int parent = model_.body(p.index).parent;
    const Pose X_WP = pose(parent);
    const Pose& X_PJ = model_.joint(p.index).spec.X_PJ;
    for_pairs([&](PairSlot& slot) {
      const Vector3 x = slot.point();
      Vector12 xi = Vector12::Zero();
      Vector6 U = Vector6::Zero();
      const Vector6 S = placement_twist(X_WP, X_PJ, p.component, x);
      bool carried = false;
      for (std::size_t i = 0; i < 2; ++i) {
        const SideBody& side = slot.sides[i];
        if (!is_beyond(body_of(slot, i), p.index)) continue;
        carried = true;
        xi.segment<6>(static_cast<Eigen::Index>(6 * i)) = in_units(slot, S);
        if (side.kind != Kind::tree) continue;
        const TreeMover& tree = *problem_.tree;
        Vector6 V = tree.twist(side.index, x);
        if (parent != kWorld && contact_.moves(parent)) V -= tree.twist(parent, x);
        U += sign_of(i) * velocity_in_units(slot, twist_bracket(S, V));
        add_carried_motions(slot.tree[i], i, way_of(model_, side.index), p.index, S, slot.impulse());
      }
      if (carried) add_response(slot, xi, U);
      if (keeps_apart(slot)) add_old_placement(slot, p);
    });
  }

  /// Loops: gaps and impulses are carried, and so are the motions of the coordinates beyond.
  void add_loop_placement(const Parameter& p) {
    const int parent = model_.body(p.index).parent;
    const Pose& X_PJ = model_.joint(p.index).spec.X_PJ;
    int row = island_.num_velocities();
    for (const SmoothEquality& equality : problem_.equalities) {
      const int first = row;
      row += equality.num_rows();
      if (!equality.is_loop()) continue;
      const Vector6 S = placement_twist(pose(parent), X_PJ, p.component, equality.point());
      const Vector6 old_S = placement_twist(old_pose(parent), X_PJ, p.component, equality.old_point());
      std::array<Vector6, 2> next{Vector6::Zero(), Vector6::Zero()};
      std::array<Vector6, 2> old{Vector6::Zero(), Vector6::Zero()};
      for (std::size_t i = 0; i < 2; ++i) {
        if (!is_beyond(equality.body(static_cast<int>(i)), p.index)) continue;
        next[i] = S;
        old[i] = old_S;
      }
      const Vector6 gap = equality.carried_gap(next, old);
      for (int k = 0; k < equality.num_rows(); ++k) r_[first + k] += gap[k];
      const Vector6 W = equality.carried_impulse(next);
      for (std::size_t i = 0; i < 2; ++i) {
        const int body = equality.body(static_cast<int>(i));
        const TreeMover::Columns& columns = equality.columns(static_cast<int>(i));
        const std::span<const int> way = way_of(model_, body);
        for (std::size_t k = 0; k < way.size(); ++k)
          r_[island_.tree_place() + problem_.tree->place(way[k])] -=
              sign_of(i) * columns.force.col(static_cast<Eigen::Index>(k)).dot(W);
        if (is_beyond(body, p.index)) add_carried_motions(columns, i, way, p.index, S, equality.impulse());
      }
    }
  }

  /// The same before the step, for what a pair keeps apart.
  void add_old_placement(PairSlot& slot, const Parameter& p) {
    const int parent = model_.body(p.index).parent;
    const Vector3 x = old_point(slot);
    const Vector6 S = placement_twist(old_pose(parent), model_.joint(p.index).spec.X_PJ, p.component, x);
    Vector12 xi = Vector12::Zero();
    Vector6 U = Vector6::Zero();
    for (std::size_t i = 0; i < 2; ++i) {
      const int body = body_of(slot, i);
      if (!is_beyond(body, p.index)) continue;
      xi.segment<6>(static_cast<Eigen::Index>(6 * i)) = in_units(slot, S);
      if (rebound_of(slot).gradient().velocity.isZero(0.0)) continue;
      const BodyVelocities& velocities = contact_.old_velocities();
      const Vector6 V = velocities.twist(model_, data_, body, x) - velocities.twist(model_, data_, parent, x);
      U += sign_of(i) * velocity_in_units(slot, twist_bracket(S, V));
    }
    add_old_motion(slot, xi, U);
  }

  /// Rows of Jᵀ W whose motions are carried by the twist S of a joint; those of free joints in the old axes.
  void add_carried_motions(const TreeMover::Columns& columns, std::size_t side, std::span<const int> way, int joint,
                           const Vector6& S, const Vector6& W) {
    const TreeMover& tree = *problem_.tree;
    Eigen::VectorXd rows = Eigen::VectorXd::Zero(model_.nv());
    for (std::size_t k = 0; k < way.size(); ++k)
      if (is_of(way[k], joint)) rows[way[k]] = twist_bracket(S, columns.xi_q.col(static_cast<Eigen::Index>(k))).dot(W);
    for (const TreeMover::Turning& turn : tree.turning())
      if (turn.linear >= 0) rows.segment<3>(turn.linear) = turn.X * rows.segment<3>(turn.linear).eval();
    for (const int dof : way)
      r_[island_.tree_place() + tree.place(dof)] -= sign_of(side) * rows[dof] / problem_.units->momentum(dof);
  }

  /// d(friction of a pair) / d(parameter).
  [[nodiscard]] double friction_share_of(const StepParameter& p, const ShapePair& pair) const {
    if (p.kind == StepParameter::Kind::friction)
      return friction_share(model_, contact_.scene(), contact_.contact_options(), pair, p.shape);
    const bool same = (p.shape == pair.A && p.other_shape == pair.B) || (p.shape == pair.B && p.other_shape == pair.A);
    return same ? 1.0 : 0.0;
  }

  void add_friction(const StepParameter& p) {
    for_pairs([&](PairSlot& slot) {
      if (slot.pair.num_friction == 0) return;
      const double share = friction_share_of(p, {slot.key.shape_A, slot.key.shape_B});
      if (share == 0.0) return;
      halves_ = halves_ || share < 1.0;
      SmoothPair::Outside outside;
      outside.beta_0 = share * slot.pair.at.z[0];
      add_impulse(slot, slot.pair.respond_outside(outside));
    });
  }

  void add_restitution(int shape) {
    for_pairs([&](PairSlot& slot) {
      if (!keeps_apart(slot) || (shape != slot.key.shape_A && shape != slot.key.shape_B)) return;
      const int other = shape == slot.key.shape_A ? slot.key.shape_B : slot.key.shape_A;
      add_gap(slot, contact_.scene().shape(model_, other).restitution * rebound_of(slot).gradient().restitution);
    });
  }

  void add_shape(const StepParameter& p) {
    const Pose& X_BS = contact_.scene().shape(model_, p.shape).X_BS;
    for_pairs([&](PairSlot& slot) {
      Vector12 xi = Vector12::Zero();
      Vector12 old_xi = Vector12::Zero();
      for (std::size_t i = 0; i < 2; ++i) {
        if ((i == 0 ? slot.key.shape_A : slot.key.shape_B) != p.shape) continue;
        const auto at = static_cast<Eigen::Index>(6 * i);
        const int body = body_of(slot, i);
        xi.segment<6>(at) = in_units(slot, placement_twist(pose(body), X_BS, p.component, slot.point()));
        if (keeps_apart(slot))
          old_xi.segment<6>(at) = in_units(slot, placement_twist(old_pose(body), X_BS, p.component, old_point(slot)));
      }
      if (!xi.isZero(0.0)) add_response(slot, xi, Vector6::Zero());
      add_old_motion(slot, old_xi, Vector6::Zero());
    });
  }

  void add_size(const StepParameter& p) {
    for_pairs([&](PairSlot& slot) {
      SmoothPair::Outside outside;
      bool any = false;
      for (std::size_t i = 0; i < 2; ++i) {
        if ((i == 0 ? slot.key.shape_A : slot.key.shape_B) != p.shape) continue;
        const ConvexPart& part =
            contact_.scene().shape(model_, p.shape).shape.parts()[i == 0 ? slot.key.part_A : slot.key.part_B];
        const int own = p.component - part.first_parameter;
        if (own < 0 || own >= part.set->num_parameters) continue;
        (i == 0 ? outside.g_A : outside.g_B) = slot.side(static_cast<int>(i)).parameter_forces(own);
        if (keeps_apart(slot)) outside.gap += rebound_of(slot).by_size(static_cast<int>(i), own);
        any = true;
      }
      if (any) add_impulse(slot, slot.pair.respond_outside(outside));
      const int lowered = slot.lowering.side;
      if (lowered < 0 || !keeps_apart(slot) || (lowered == 0 ? slot.key.shape_A : slot.key.shape_B) != p.shape) return;
      add_lowering(slot, -slot.lowering.slope * height_by_size(slot, p));
    });
  }

  /// The height of a set's centre above a lowered half-space by the normal (not of unit length) and the offset of that.
  [[nodiscard]] double height_by_size(const PairSlot& slot, const StepParameter& p) const {
    const CollisionShape& shape = contact_.scene().shape(model_, p.shape);
    const HalfSpace* plane = shape.shape.get_if<HalfSpace>();
    const double length = plane->normal.norm();
    if (p.component == 3) return -1.0 / length;
    const Vector3 n = plane->normal / length;
    const Pose X = old_pose(body_of(slot, static_cast<std::size_t>(slot.lowering.side))) * shape.X_BS;
    const Vector3 center = X.inverse() * slot.lowering.center;
    return (center[p.component] - n[p.component] * (n.dot(center) - plane->offset / length)) / length;
  }

  template <class On>
  void for_pairs(On&& on) {
    for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k)
      if (!problem_.pairs[k].left_out) on(problem_.pairs[k]);
  }

  [[nodiscard]] static Vector6 in_units(const PairSlot& slot, const Vector6& twist) {
    Vector6 out = twist;
    out.head<3>() /= slot.units.length;
    return out;
  }
  [[nodiscard]] static Vector6 velocity_in_units(const PairSlot& slot, const Vector6& twist) {
    Vector6 out = twist / slot.units.speed;
    out.tail<3>() *= slot.units.length;
    return out;
  }

  [[nodiscard]] int body_of(const PairSlot& slot, std::size_t i) const {
    return contact_.body_of(slot, static_cast<int>(i));
  }

  // of pairs that bounce or overlap: before the step
  [[nodiscard]] Rebound& rebound_of(const PairSlot& slot) const { return problem_.rebounds[slot.rebound]; }
  [[nodiscard]] bool keeps_apart(const PairSlot& slot) const { return slot.rebound >= 0 && rebound_of(slot).acts(); }
  [[nodiscard]] Vector3 old_point(const PairSlot& slot) const {
    return slot.origin + slot.units.length * rebound_of(slot).x();
  }
  [[nodiscard]] Pose old_pose(int body) const { return body == kWorld ? Pose() : body_pose(model_, data_, body); }
  void add_gap(PairSlot& slot, double gap) { add_impulse(slot, slot.pair.respond_outside({.gap = gap})); }
  void add_old_motion(PairSlot& slot, const Vector12& xi, const Vector6& U) {
    if (!keeps_apart(slot)) return;
    const Rebound::Gradient& gradient = rebound_of(slot).gradient();
    add_gap(slot, gradient.xi.dot(xi) + gradient.velocity.dot(U.head<3>()));
    if (slot.lowering.side < 0) return;
    Vector12 in_si = xi;
    in_si.segment<3>(0) *= slot.units.length;
    in_si.segment<3>(6) *= slot.units.length;
    add_lowering(slot, slot.lowering.by_twists(old_point(slot)).dot(in_si));
  }
  void add_lowering(PairSlot& slot, double depth) {
    add_impulse(slot, depth * slot.respond_to_lowering(rebound_of(slot).gradient().xi));
  }

  /// At the end of the step.
  [[nodiscard]] Pose pose(int body) const {
    if (body == kWorld) return {};
    const JointSpec& joint = model_.joint(body).spec;
    if (!contact_.moves(body)) return pose(model_.body(body).parent) * joint.X_PJ * joint.X_CJ.inverse();
    const int mover = contact_.mover_of_body(body);
    if (mover < 0) return problem_.tree->pose(body);
    return problem_.free[mover].X_next * to_pose(model_.links().bodies[body].X_LB);
  }

  [[nodiscard]] bool is_beyond(int body, int joint) const {
    while (body != kWorld && body != joint) body = model_.body(body).parent;
    return body == joint;
  }
  /// A coordinate of this joint or of one beyond.
  [[nodiscard]] bool is_of(int dof, int joint) const {
    for (int b = joint; b < model_.num_bodies(); ++b) {
      const Joint& at = model_.joint(b);
      if (dof >= at.first_v && dof < at.first_v + at.nv) return is_beyond(b, joint);
    }
    return false;
  }

  void add_response(PairSlot& slot, const Vector12& xi, const Vector6& U) {
    add_impulse(slot, slot.pair.Y.leftCols<12>() * xi + slot.pair.Y.rightCols<6>() * U);
  }
  void add_impulse(PairSlot& slot, const Vector6& W) {
    for (std::size_t i = 0; i < 2; ++i) add_to_side(slot, i, W);
  }
  /// r −= sign forceᵀ W.
  void add_to_side(PairSlot& slot, std::size_t i, const Vector6& W) {
    const SideBody& side = slot.sides[i];
    if (side.kind == Kind::free)
      Eigen::Map<Vector6>(r_ + island_.place_of(side.index)) -= sign_of(i) * (slot.free[i].force * W);
    if (side.kind != Kind::tree) return;
    const std::span<const int> way = way_of(model_, side.index);
    for (std::size_t k = 0; k < way.size(); ++k)
      r_[island_.tree_place() + problem_.tree->place(way[k])] -=
          sign_of(i) * slot.tree[i].force.col(static_cast<Eigen::Index>(k)).dot(W);
  }

  SingleLevelContact& contact_;
  const Model& model_;
  SmoothProblem& problem_;
  SmoothIsland& island_;
  const SingleLevelDerivatives& derivatives_;
  /// The poses before the step.
  const Data& data_;
  const SmoothLinearisation& step_;
  const MatrixX& tree_columns_;
  bool limited_;
  double* r_ = nullptr;

 public:
  /// The free body whose old attitude the parameter turns (v⁺ is in its axes), and how; -1 for none.
  struct Turned {
    int mover = -1;
    Vector3 by = Vector3::Zero();
  };
  Turned turned_;
  /// The free body of which it is a parameter, and how v̂ moves by it at fixed V and W; -1 for none.
  struct Own {
    int mover = -1;
    Vector6 change = Vector6::Zero();
  };
  Own own_;
  /// Whether the friction of a shape was asked for that is equal to that of a shape it touches.
  bool halves_ = false;
  /// F of the limit on restitution, if there is one (rebound_energy.hpp), by the parameter at fixed v⁺.
  double limit_ = 0.0;
};

namespace {

/// dt (inverse dynamics by a parameter), dampers and springs at the end of the step.
void tree_parameter_columns(const Model& model, Data& data, const SmoothLinearisation& step, const VectorX& v_plus,
                            const VectorX& acceleration, double dt, std::span<const StepParameter> parameters,
                            const TreeMover& tree, MatrixX& out) {
  out.setZero(model.nv(), static_cast<Eigen::Index>(parameters.size()));
  MatrixX column;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind != StepParameter::Kind::model) continue;
    const Parameter& p = parameters[i].model;
    inverse_dynamics_parameter_derivatives(model, data, step.state.q, step.state.v, acceleration, std::span(&p, 1),
                                           column);
    out.col(static_cast<Eigen::Index>(i)) = dt * column.col(0);
    const bool of_tree =
        (p.kind == Parameter::Kind::damping || p.kind == Parameter::Kind::stiffness) && tree.place(p.index) >= 0;
    if (!of_tree) continue;
    bool of_free_joint = false;
    for (const TreeMover::Turning& turn : tree.turning())
      of_free_joint = of_free_joint || (turn.linear >= 0 && p.index >= turn.linear && p.index < turn.linear + 6);
    if (of_free_joint) continue;
    double& entry = out(p.index, static_cast<Eigen::Index>(i));
    if (p.kind == Parameter::Kind::damping) entry += dt * (v_plus[p.index] - step.state.v[p.index]);
    if (p.kind == Parameter::Kind::stiffness) entry += dt * dt * v_plus[p.index];
  }
}

}  // namespace

GradientQuality SingleLevelDerivatives::parameters(SingleLevelContact& contact, Data& data,
                                                   const SmoothLinearisation& step,
                                                   std::span<const StepParameter> parameters, MatrixX& out) {
  const auto count = static_cast<int>(parameters.size());
  out.setZero(model_.nv(), count);
  MatrixX tree_columns;
  const double dt = contact.problem().time_step;
  contact.respond_to_every_side(true);
  bool halves = false;
  const GradientQuality quality = visit(contact, data, step, [&](SmoothIsland& island) {
    const SmoothProblem& problem = contact.problem();
    if (island.with_tree())
      tree_parameter_columns(model_, data, step, v_plus_, acceleration_, dt, parameters, *problem.tree, tree_columns);
    const int n = island.num_velocities();
    const bool limited = limit_terms(contact, island, step);
    ScratchVector::View r = weights_.reset(island.num_unknowns());
    ScratchVector::View change = seed_.reset(n);
    for (int i = 0; i < count; ++i) {
      r.setZero();
      SmoothParameterColumn column(contact, island, *this, data, step, tree_columns, limited);
      column.fill(parameters[i], i, r.data());
      halves = halves || column.halves_;
      island.solve_velocities(r.data());
      island.velocity_changes(r.data(), change.data());
      change *= -1.0;
      for (const int m : island.movers()) {
        const FreeMover& mover = problem.free[m];
        auto own = change.segment<6>(island.place_of(m));
        if (column.turned_.mover == m) {
          const Matrix3 Rt = mover.X_WL.R.transpose();
          Vector6 turned;
          turned << (Rt * mover.V).cross(column.turned_.by), (Rt * mover.W).cross(column.turned_.by);
          own += mover.velocity_after_derivative() * turned;
        }
        if (column.own_.mover == m) own += column.own_.change;
      }
      if (limited) change += (column.limit_ + contact.energy().by_next().dot(change)) * limit_response_.view();
      for (int k = 0; k < n; ++k) out(dofs_[k], i) = change[k];
    }
  });
  contact.respond_to_every_side(false);
  return worst(quality, halves ? GradientQuality::halved_at_tie : GradientQuality::exact);
}

}  // namespace tangere
