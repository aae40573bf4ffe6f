#include "tangere/contact/smooth/single_level_derivatives.hpp"

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/links.hpp"

namespace tangere {
namespace {

using Kind = SideBody::Kind;
using Block6 = Eigen::Matrix<double, 6, 6>;

/// How a free body's set moves, and the velocity past a fixed place, by (δq) in the body's tangent at fixed V and W.
void free_motions(const PairSlot& slot, const FreeMover& mover, Block6& xi, Block6& U) {
  const Matrix3& R = mover.X_WL.R;
  const Matrix3 turned = mover.X_next.R;  // C R
  const Vector3 arm = slot.pair.x - (mover.X_next.p - slot.origin) / slot.units.length;
  xi.setZero();
  xi.topLeftCorner<3, 3>() = R / slot.units.length;
  xi.topRightCorner<3, 3>() = -so3::hat(arm) * turned;
  xi.bottomRightCorner<3, 3>() = turned;
  U.setZero();
  U.topLeftCorner<3, 3>() = -so3::hat(mover.W) * R / slot.units.speed;
}

/// How the point that both impulses act at, and the old centre, move by δq of a body: by the first, and by both.
void lever_motions(const PairSlot& slot, const FreeMover& mover, double weight, Matrix3x6c& shared, Matrix3x6c& own) {
  const Matrix3& R = mover.X_WL.R;
  const double scale = -1.0 / slot.units.length;
  const Matrix3 swept = so3::hat(mover.arm) * R;
  shared.setZero();
  shared.rightCols<3>() = (-scale * weight) * (mover.X_next.R * R.transpose() * swept - swept);
  own = shared;
  own.leftCols<3>() += scale * R;
  own.rightCols<3>() -= scale * swept;
}

}  // namespace

SingleLevelDerivatives::SingleLevelDerivatives(const Model& model) : model_(model) {}

int SingleLevelDerivatives::dof_of(const SmoothProblem& problem, const SmoothIsland& island, int place) const {
  if (place < island.tree_place()) return problem.free[island.movers()[place / 6]].first_v + place % 6;
  return problem.tree->dofs()[place - island.tree_place()];
}

/// r of the trees without contact, dt (inverse dynamics) + what is implicit − dt τ, by q and v.
void SingleLevelDerivatives::smooth_terms(SingleLevelContact& contact, Data& data, const SmoothLinearisation& step) {
  const double dt = contact.problem().time_step;
  const TreeMover& tree = *contact.problem().tree;
  v_plus_ = step.v_plus;
  for (const int dof : tree.dofs()) v_plus_[dof] = tree.v[dof];
  acceleration_ = (v_plus_ - step.state.v) / dt;
  for (const Joint& joint : model_.joints())
    if (joint.nv == 6)
      acceleration_.segment<3>(joint.first_v) -=
          step.state.v.segment<3>(joint.first_v + 3).cross(step.state.v.segment<3>(joint.first_v));
  const InverseDynamicsDerivatives smooth =
      inverse_dynamics_derivatives(model_, data, step.state.q, step.state.v, acceleration_);
  tree_q_ = dt * smooth.d_q;
  tree_v_ = dt * smooth.d_v - smooth.d_a;
  tree_v_.diagonal() += dt * step.implicit_damping - step.state.implicit_inertia;
  for (const Joint& joint : model_.joints()) {
    if (joint.nv != 6) continue;
    const int k = joint.first_v;
    tree_v_.middleCols<3>(k) -= dt * smooth.d_a.middleCols<3>(k) * so3::hat(step.state.v.segment<3>(k + 3));
    tree_v_.middleCols<3>(k + 3) += dt * smooth.d_a.middleCols<3>(k) * so3::hat(step.state.v.segment<3>(k));
  }

  // q⁺ by q, where that is more than the identity
  if (tree.turning().empty()) return;
  displacement_ = dt * v_plus_;
  for (const TreeMover::Turning& turn : tree.turning()) {
    const Vector3 phi = displacement_.segment<3>(turn.angular);
    displacement_.segment<3>(turn.angular) = cayley_logarithm(phi);
  }
  integrate_jacobians(model_, step.state.q, displacement_, integrate_q_, integrate_d_);
}

void SingleLevelDerivatives::free_terms(const FreeMover& mover, int row, const SmoothLinearisation& step) {
  const auto n = static_cast<Eigen::Index>(dofs_.size());
  ScratchMatrix::View r = r_.view();
  const Matrix3& R = mover.X_WL.R;
  const double dt = mover.time_step;
  const double linear = 1.0 / mover.units.impulse();
  const double angular = linear / mover.units.length;
  const Matrix3 C = mover.X_next.R * R.transpose();
  // turned with the body: what it had before, and its inertia
  const Vector3 before = mover.linear_before - (mover.mass * dt) * model_.gravity();
  const Matrix3 swept = so3::hat(mover.arm);
  const Vector3 momentum = midpoint_momentum(mover.J, mover.W, dt);
  const Matrix3 d_momentum = midpoint_momentum_derivative(mover.J, mover.W, dt);
  r.block<3, 3>(row, row + 3) += linear * (so3::hat(before) - (mover.mass / dt) * (C * swept - swept)) * R;
  r.block<3, 3>(row + 3, row + 3) +=
      angular * (so3::hat(mover.angular_before) - so3::hat(momentum) + d_momentum * so3::hat(mover.W)) * R;

  // the old velocity
  const Eigen::Index v = n + row;
  r.block<3, 3>(row, v) += -(linear * mover.mass) * R;
  r.block<3, 3>(row, v + 3) += (linear * mover.mass) * swept * R;
  r.block<3, 3>(row + 3, v + 3) += -angular * mover.J * R;

  // forces, and what of them depends on the state
  const Eigen::Index tau = 2 * n + row;
  r.block<3, 3>(row, tau) += -(linear * dt) * R;
  r.block<3, 3>(row + 3, tau) += (angular * dt) * swept * R;
  r.block<3, 3>(row + 3, tau + 3) += -(angular * dt) * R;
  for (int k = 0; k < 6; ++k) {
    const int dof = mover.first_v + k;
    const double damping = model_.links().damping[dof];
    r.block<6, 1>(row, row + k) += step.tau_q[dof] * r.block<6, 1>(row, tau + k);
    r.block<6, 1>(row, v + k) += (step.tau_v[dof] - damping) * r.block<6, 1>(row, tau + k);
  }
}

/// Terms that move with q⁺ at fixed v⁺.
void SingleLevelDerivatives::pair_terms(const SmoothProblem& problem, const SmoothIsland& island,
                                        const PairSlot& slot) {
  if (slot.left_out) return;
  ScratchMatrix::View r = r_.view();
  const Vector3 F = slot.pair.impulse().head<3>();
  for (std::size_t j = 0; j < 2; ++j) {
    const SideBody& column = slot.sides[j];
    if (column.kind == Kind::fixed) continue;
    const auto Y_xi = slot.pair.Y.block<6, 6>(0, static_cast<Eigen::Index>(6 * j));
    const auto Y_U = slot.pair.Y.block<6, 6>(0, 12);
    const std::span<const int> way = column.kind == Kind::tree ? way_of(model_, column.index) : std::span<const int>();
    const int count = column.kind == Kind::free ? 6 : static_cast<int>(way.size());
    if (response_.cols() < count) response_.setZero(6, count);
    auto response = response_.leftCols(count);
    Matrix3x6c shared = Matrix3x6c::Zero();
    Matrix3x6c own = Matrix3x6c::Zero();
    if (column.kind == Kind::free) {
      const FreeMover& mover = problem.free[column.index];
      Block6 xi;
      Block6 U;
      free_motions(slot, mover, xi, U);
      response = Y_xi * xi + (sign_of(j) * Y_U) * U;
      lever_motions(slot, mover, slot.weights[j], shared, own);
    } else {
      const TreeMover::Columns& motions = slot.tree[j];
      const Units& unit = slot.units;
      for (int k = 0; k < count; ++k) {
        Vector6 xi = motions.xi_q.col(k);
        Vector6 U = motions.U_q.col(k);
        xi.head<3>() /= unit.length;
        U.head<3>() /= unit.speed;
        U.tail<3>() *= unit.length / unit.speed;
        response.col(k) = Y_xi * xi + sign_of(j) * (Y_U * U);
      }
    }
    const auto column_place = [&](int k) {
      return column.kind == Kind::free ? island.place_of(column.index) + k
                                       : island.tree_place() + problem.tree->place(way[k]);
    };
    for (std::size_t i = 0; i < 2; ++i) {
      const SideBody& row = slot.sides[i];
      const double sign = -sign_of(i);
      if (row.kind == Kind::free) {
        const int at = island.place_of(row.index);
        for (int k = 0; k < count; ++k) {
          Vector6 W = response.col(k);
          if (column.kind == Kind::free) {
            const Vector3 lever = (i == j ? own : shared).col(k);
            W.tail<3>() += lever.cross(F);
          }
          r.block<6, 1>(at, column_place(k)) += sign * (slot.free[i].force * W);
        }
      }
      if (row.kind == Kind::tree) {
        const std::span<const int> row_way = way_of(model_, row.index);
        for (std::size_t a = 0; a < row_way.size(); ++a) {
          const int at = island.tree_place() + problem.tree->place(row_way[a]);
          const Vector6 force = slot.tree[i].force.col(static_cast<Eigen::Index>(a));
          for (int k = 0; k < count; ++k) r(at, column_place(k)) += sign * force.dot(response.col(k));
        }
        if (i == j) add_turning(problem, island, slot, i, sign);
      }
    }
  }
}

/// d(Jᵀ W) by q⁺.
void SingleLevelDerivatives::add_turning(const SmoothProblem& problem, const SmoothIsland& island, const PairSlot& slot,
                                         std::size_t side, double sign) {
  ScratchMatrix::View r = r_.view();
  const TreeMover& tree = *problem.tree;
  const std::span<const int> way = way_of(model_, slot.sides[side].index);
  tree.turning_by_next(slot.sides[side].index, slot.tree[side], turning_);
  for (std::size_t k = 0; k < way.size(); ++k)
    for (std::size_t j = 0; j < way.size(); ++j)
      r(island.tree_place() + tree.place(way[k]), island.tree_place() + tree.place(way[j])) +=
          sign * turning_(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(j));
}

/// Loops and mimics by q⁺, beside the coordinates' own columns.
void SingleLevelDerivatives::equality_terms(SmoothProblem& problem, const SmoothIsland& island, const Data& data) {
  ScratchMatrix::View r = r_.view();
  int row = island.num_velocities();
  for (SmoothEquality& equality : problem.equalities) {
    equality.differentiate(*problem.tree, data);
    const std::span<const int> dofs = equality.dofs();
    for (std::size_t j = 0; j < dofs.size(); ++j) {
      const auto column = static_cast<Eigen::Index>(j);
      const int place = island.tree_place() + problem.tree->place(dofs[j]);
      r.col(place).segment(row, equality.num_rows()) += equality.G_next.col(column);
      for (std::size_t i = 0; i < dofs.size(); ++i)
        r(island.tree_place() + problem.tree->place(dofs[i]), place) -=
            equality.T_next(static_cast<Eigen::Index>(i), column);
    }
    row += equality.num_rows();
  }
}

/// Their gaps before the step, by q.
void SingleLevelDerivatives::old_gap_terms(const SmoothProblem& problem, const SmoothIsland& island) {
  ScratchMatrix::View r = r_.view();
  int row = island.num_velocities();
  for (const SmoothEquality& equality : problem.equalities) {
    const std::span<const int> dofs = equality.dofs();
    for (std::size_t j = 0; j < dofs.size(); ++j)
      r.col(island.tree_place() + problem.tree->place(dofs[j])).segment(row, equality.num_rows()) +=
          equality.G_old.col(static_cast<Eigen::Index>(j));
    row += equality.num_rows();
  }
}

/// The tree's own terms; its columns so far are by q⁺.
void SingleLevelDerivatives::tree_terms(const SmoothProblem& problem, const SmoothIsland& island,
                                        const SmoothLinearisation& step) {
  ScratchMatrix::View r = r_.view();
  const auto n = static_cast<Eigen::Index>(dofs_.size());
  const int first = island.tree_place();
  const TreeMover& tree = *problem.tree;
  for (const JointRow& row : problem.joint_rows) {
    if (row.kind == JointRow::Kind::friction) continue;
    const int at = first + tree.place(row.dof);
    const auto i = static_cast<std::size_t>(row.first_row);
    const double stiffness = problem.s[i] + row.compliance * problem.z[i];
    const double pull = problem.z[i] / stiffness / problem.units->position(row.dof);
    r(at, at) += (1.0 - row.kept_slope) * pull;
    r(at, n + at) += problem.time_step * row.kept_speed * pull;
  }
  for (const TreeMover::Turning& turn : tree.turning()) {
    const int at = turn.linear >= 0 ? turn.linear : turn.angular;
    const int size = turn.linear >= 0 ? 6 : 3;
    const int place = first + tree.place(at);
    for (Eigen::Index k = 0; k < r.rows(); ++k) {
      Vector6 by_next = Vector6::Zero();
      for (int j = 0; j < size; ++j) by_next[j] = r(k, place + j);
      for (int j = 0; j < size; ++j) {
        double sum = 0.0;
        for (int i = 0; i < size; ++i) sum += by_next[i] * integrate_q_(at + i, at + j);
        r(k, place + j) = sum;
      }
    }
  }
  const double dt = problem.time_step;
  for (int i = 0; i < tree.size(); ++i) {
    const int dof = tree.dofs()[i];
    const double unit = 1.0 / problem.units->momentum(dof);
    for (int j = 0; j < tree.size(); ++j) {
      const int other = tree.dofs()[j];
      r(first + i, first + j) += unit * tree_q_(dof, other);
      r(first + i, n + first + j) += unit * tree_v_(dof, other);
    }
    r(first + i, first + i) -= unit * dt * step.tau_q[dof];
    r(first + i, n + first + i) -= unit * dt * step.tau_v[dof];
    r(first + i, 2 * n + first + i) = -unit * dt;
  }
}

/// Terms of kept gaps: those of pairs that bounce or overlap move with the state before the step.
void SingleLevelDerivatives::rebound_terms(SingleLevelContact& contact, const Data& data, const SmoothIsland& island,
                                           const PairSlot& slot) {
  if (slot.rebound < 0 || slot.left_out) return;
  Rebound& rebound = contact.problem().rebounds[slot.rebound];
  rebound.differentiate();
  if (!rebound.acts()) return;
  ScratchMatrix::View r = r_.view();
  const auto n = static_cast<Eigen::Index>(dofs_.size());
  ScratchVector::View by_gap = by_gap_.reset(island.num_unknowns());
  island.add_impulse(slot, slot.pair.respond_outside({.gap = 1.0}), -1.0, by_gap.data());

  const Rebound::Gradient& gradient = rebound.gradient();
  const Vector3 x = slot.origin + slot.units.length * rebound.x();
  const Vector12 lowered = slot.lowering.by_twists(x);
  ScratchVector::View by_depth = by_depth_.reset(island.num_unknowns());
  if (slot.lowering.side >= 0) island.add_impulse(slot, slot.respond_to_lowering(gradient.xi), -1.0, by_depth.data());
  for (std::size_t j = 0; j < 2; ++j) {
    const SideBody& side = slot.sides[j];
    if (side.kind == Kind::fixed) continue;
    const int body = contact.body_of(slot, static_cast<int>(j));
    const std::span<const int> way = way_of(model_, body);
    const auto count = static_cast<Eigen::Index>(way.size());
    if (motions_.cols() < count) {
      motions_.setZero(6, count);
      velocities_.setZero(6, count);
    }
    way_columns(model_, data, body, x, motions_.leftCols(count));
    // overlap alone knows no velocities
    if (gradient.velocity.isZero(0.0))
      velocities_.leftCols(count).setZero();
    else
      contact.old_velocities().twist_derivatives(model_, data, body, x, velocities_.leftCols(count));
    Vector6 by_twist = gradient.xi.segment<6>(static_cast<Eigen::Index>(6 * j));
    by_twist.head<3>() /= slot.units.length;
    const Vector3 by_velocity = (sign_of(j) / slot.units.speed) * gradient.velocity;
    for (Eigen::Index k = 0; k < count; ++k) {
      const int place = island.place_of_dof(side, way[k]);
      r.col(place) += (by_twist.dot(motions_.col(k)) + by_velocity.dot(velocities_.col(k).head<3>())) * by_gap;
      r.col(n + place) += by_velocity.dot(motions_.col(k).head<3>()) * by_gap;
      if (slot.lowering.side >= 0)
        r.col(place) += lowered.segment<6>(static_cast<Eigen::Index>(6 * j)).dot(motions_.col(k)) * by_depth;
    }
  }
}

void SingleLevelDerivatives::island_terms(SingleLevelContact& contact, const Data& data, SmoothIsland& island,
                                          const SmoothLinearisation& step) {
  SmoothProblem& problem = contact.problem();
  const int n = island.num_velocities();
  dofs_.resize(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) dofs_[i] = dof_of(problem, island, i);
  r_.reset(island.num_unknowns(), 3 * n);
  for (std::size_t k = island.first_pair(); k < island.last_pair(); ++k) pair_terms(problem, island, problem.pairs[k]);
  if (island.with_tree()) {
    equality_terms(problem, island, data);
    tree_terms(problem, island, step);
    old_gap_terms(problem, island);
  }
  for (const int i : island.movers()) free_terms(problem.free[i], island.place_of(i), step);
  for (std::size_t k = island.first_pair(); k < island.last_pair(); ++k)
    rebound_terms(contact, data, island, problem.pairs[k]);
}

bool SingleLevelDerivatives::limit_terms(SingleLevelContact& contact, const SmoothIsland& island,
                                         const SmoothLinearisation& step) {
  if (!contact.limit_moves()) return false;
  const double slope = contact.balance_of_limit().slope;
  const SmoothProblem& problem = contact.problem();
  const ReboundEnergy& energy = contact.energy();
  const ScratchVector::ConstView y = energy.y();
  const double dt = problem.time_step;
  const auto n = static_cast<Eigen::Index>(dofs_.size());
  limit_response_.reset(n) = contact.by_limit() / -slope;
  ScratchVector::View by_tau = limit_tau_.reset(n);
  ScratchVector::View by_q = limit_q_.reset(n);
  ScratchVector::View by_v = limit_v_.reset(n);
  by_tau = -dt * y;
  by_v = (1.0 - energy.seam(contact.limit())) * energy.p();
  for (Eigen::Index i = 0; i < n; ++i) {
    const int dof = dofs_[i];
    by_q[i] = step.tau_q[dof] * by_tau[i];
    by_v[i] += step.tau_v[dof] * by_tau[i];
  }
  for (const int i : island.movers()) {
    const FreeMover& mover = problem.free[i];
    const int at = island.place_of(i);
    by_v.segment<6>(at) -= energy.momentum().segment<6>(at);
    for (int k = 0; k < 6; ++k) by_v[at + k] -= model_.links().damping[mover.first_v + k] * by_tau[at + k];
    const Vector3 fall = (dt * mover.mass) * (mover.X_WL.R.transpose() * model_.gravity());
    by_q.segment<3>(at + 3) -= energy.center_of(mover, at).cross(fall);
  }
  if (!island.with_tree()) return true;
  const int first = island.tree_place();
  for (Eigen::Index j = first; j < n; ++j)
    for (Eigen::Index i = first; i < n; ++i) {
      const int row = dofs_[i];
      const int column = dofs_[j];
      by_q[j] += y[i] * tree_q_(row, column);
      by_v[j] += y[i] * tree_v_(row, column);
    }
  return true;
}

GradientQuality SingleLevelDerivatives::jacobians(SingleLevelContact& contact, Data& data,
                                                  const SmoothLinearisation& step, MatrixX& d_q, MatrixX& d_v,
                                                  MatrixX& d_tau) {
  for (MatrixX* matrix : {&d_q, &d_v, &d_tau}) matrix->setZero(model_.nv(), model_.nv());
  coupled_.clear(model_.nv());
  return visit(contact, data, step, [&](SmoothIsland& island) {
    const SmoothProblem& problem = contact.problem();
    const int n = island.num_velocities();
    coupled_.add_island(dofs_);
    island.solve_velocities(r_.row(0), r_.width(), 3 * n);
    ScratchMatrix::View r = r_.view();

    // units and axes
    for (int i = island.tree_place(); i < n; ++i) r.row(i) *= problem.units->velocity(dofs_[i]);
    for (const int i : island.movers()) {
      const FreeMover& mover = problem.free[i];
      const int row = island.place_of(i);
      const Matrix3 Rt = mover.X_WL.R.transpose();
      for (int k = 0; k < 3 * n; ++k) {
        const Vector3 linear = r.block<3, 1>(row, k);
        const Vector3 angular = r.block<3, 1>(row + 3, k);
        r.block<3, 1>(row, k) = mover.units.speed * (Rt * linear);
        r.block<3, 1>(row + 3, k) = (mover.units.speed / mover.units.length) * (Rt * angular);
      }
      // the axes turn with the old attitude
      r.block<3, 3>(row, row + 3) -= so3::hat(Rt * mover.V);
      r.block<3, 3>(row + 3, row + 3) -= so3::hat(Rt * mover.W);
      // from V and W to v̂
      const Matrix6 after = mover.velocity_after_derivative();
      for (int k = 0; k < 3 * n; ++k) {
        const Vector6 column = r.block<6, 1>(row, k);
        r.block<6, 1>(row, k).noalias() = after * column;
      }
    }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int row = dofs_[i];
        const int column = dofs_[j];
        d_q(row, column) = -r(i, j);
        d_v(row, column) = -r(i, n + j);
        d_tau(row, column) = -r(i, 2 * n + j);
      }
    if (!limit_terms(contact, island, step)) return;
    const ScratchVector::ConstView by_next = contact.energy().by_next();
    const auto add = [&](const ScratchVector& by_old, MatrixX& d) {
      for (int j = 0; j < n; ++j) {
        const int column = dofs_[j];
        double change = by_old[j];
        for (int i = 0; i < n; ++i) change += by_next[i] * d(dofs_[i], column);
        for (int i = 0; i < n; ++i) d(dofs_[i], column) += change * limit_response_[i];
      }
    };
    add(limit_q_, d_q);
    add(limit_v_, d_v);
    add(limit_tau_, d_tau);
  });
}

GradientQuality SingleLevelDerivatives::reverse(SingleLevelContact& contact, Data& data,
                                                const SmoothLinearisation& step, VectorArgument g, VectorX& g_q,
                                                VectorX& g_v, VectorX& g_tau) {
  for (VectorX* vector : {&g_q, &g_v, &g_tau}) vector->setZero(model_.nv());
  return visit(contact, data, step, [&](SmoothIsland& island) {
    const SmoothProblem& problem = contact.problem();
    const int n = island.num_velocities();
    ScratchVector::View seed = seed_.reset(n);
    for (int i = 0; i < n; ++i) seed[i] = g[dofs_[i]];
    if (limit_terms(contact, island, step)) {
      const double by_limit = seed.dot(limit_response_.view());
      for (int i = 0; i < n; ++i) {
        const int dof = dofs_[i];
        g_q[dof] += by_limit * limit_q_[i];
        g_v[dof] += by_limit * limit_v_[i];
        g_tau[dof] += by_limit * limit_tau_[i];
      }
      seed += by_limit * contact.energy().by_next();
    }
    ScratchVector::View y = weights_.reset(island.num_unknowns());
    for (int i = island.tree_place(); i < n; ++i) y[i] = problem.units->velocity(dofs_[i]) * seed[i];
    for (const int i : island.movers()) {
      const FreeMover& mover = problem.free[i];
      const int row = island.place_of(i);
      const Matrix3& R = mover.X_WL.R;
      const Vector6 own = mover.velocity_after_derivative().transpose() * seed.segment<6>(row);
      y.segment<3>(row) = mover.units.speed * (R * own.head<3>());
      y.segment<3>(row + 3) = (mover.units.speed / mover.units.length) * (R * own.tail<3>());
      // the axes turn with the old attitude: (v̂ δ)ᵀ g = δ · (g × v)
      const Vector3 v = R.transpose() * mover.V;
      const Vector3 w = R.transpose() * mover.W;
      g_q.segment<3>(mover.first_v + 3) += own.head<3>().cross(v) + own.tail<3>().cross(w);
    }
    island.solve_velocities_transposed(y.data());
    for (int i = 0; i < island.num_unknowns(); ++i) {
      const double* row = r_.row(i);
      const double weight = -y[i];
      for (int j = 0; j < n; ++j) {
        const int dof = dofs_[j];
        g_q[dof] += weight * row[j];
        g_v[dof] += weight * row[n + j];
        g_tau[dof] += weight * row[2 * n + j];
      }
    }
  });
}

}  // namespace tangere
