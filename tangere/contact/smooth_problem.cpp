#include "tangere/contact/smooth_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Geometry>

#include "tangere/math/small_lu.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/links.hpp"

namespace tangere {
namespace {

using Kind = SideBody::Kind;

int collision_rows(const PairSlot& slot) {
  return SmoothSide::num_rows(slot.pair.A.rows()) + SmoothSide::num_rows(slot.pair.B.rows());
}

}  // namespace

Vector6 PairSlot::impulse() const {
  Vector6 W = units.impulse() * pair.impulse();
  W.tail<3>() *= units.length;
  return W;
}

std::size_t SmoothProblem::num_rows_of(const PairSlot& slot) const {
  return static_cast<std::size_t>((bilevel ? 0 : collision_rows(slot)) + slot.pair.num_contact_rows());
}

std::size_t SmoothProblem::num_auxiliaries_of(const PairSlot& slot) const {
  return static_cast<std::size_t>(slot.pair.A.rows().num_aux + slot.pair.B.rows().num_aux);
}

void SmoothProblem::lay_out() {
  int rows = 0;
  int auxiliaries = 0;
  int numbers = 0;
  int inner = 0;
  for (std::size_t i = 0; i < num_pairs; ++i) {
    pairs[i].first_row = rows;
    pairs[i].first_y = auxiliaries;
    (bilevel ? inner : rows) += collision_rows(pairs[i]);
    rows += pairs[i].pair.num_contact_rows();
    for (SmoothSide* side : {&pairs[i].pair.A, &pairs[i].pair.B}) {
      auxiliaries += side->rows().num_aux;
      numbers += SmoothSide::num_scratch(side->rows());
    }
  }
  for (JointRow& row : joint_rows) {
    row.first_row = rows;
    rows += row.kind == JointRow::Kind::friction ? 2 : 1;
  }
  for (AlignedVector* vector : {&z, &s, &r_s}) vector->resize(static_cast<std::size_t>(rows));
  for (AlignedVector* vector : {&inner_z, &inner_s, &inner_r, &inner_d})
    vector->assign(static_cast<std::size_t>(inner), 0.0);
  for (AlignedVector* vector : {&y, &y_saved, &r_y, &y_0, &dy}) vector->resize(static_cast<std::size_t>(auxiliaries));
  scratch.resize(static_cast<std::size_t>(numbers));

  double* next_scratch = scratch.data();
  int next_inner = 0;
  for (std::size_t i = 0; i < num_pairs; ++i) {
    int row = pairs[i].first_row;
    int at_y = pairs[i].first_y;
    for (SmoothSide* side : {&pairs[i].pair.A, &pairs[i].pair.B}) {
      int& at = bilevel ? next_inner : row;
      side->bind({.z = (bilevel ? inner_z : z).data() + at,
                  .s = (bilevel ? inner_s : s).data() + at,
                  .r_s = (bilevel ? inner_r : r_s).data() + at,
                  .y = y.data() + at_y,
                  .r_y = r_y.data() + at_y,
                  .y_0 = y_0.data() + at_y,
                  .scratch = next_scratch});
      at += SmoothSide::num_rows(side->rows());
      at_y += side->rows().num_aux;
      next_scratch += SmoothSide::num_scratch(side->rows());
    }
    pairs[i].pair.at = {z.data() + row, s.data() + row};
  }
}

void SmoothIsland::set(std::size_t first_pair, std::size_t last_pair, std::span<const int> movers, bool with_tree) {
  first_pair_ = first_pair;
  last_pair_ = last_pair;
  movers_.assign(movers.begin(), movers.end());
  place_of_mover_.resize(p_.free.size());
  for (std::size_t i = 0; i < movers_.size(); ++i)
    place_of_mover_[static_cast<std::size_t>(movers_[i])] = 6 * static_cast<int>(i);
  with_tree_ = with_tree;
  alone_ = !with_tree;
  for (std::size_t i = first_pair; i < last_pair; ++i)
    for (const SideBody& side : p_.pairs[i].sides) alone_ = alone_ && side.kind == Kind::free;
  n_ = tree_place() + (with_tree ? p_.tree->size() : 0);
  num_equalities_ = with_tree ? static_cast<int>(p_.lambda.size()) : 0;

  // rows of the pairs, then of the joints
  cones_.clear();
  int row = 0;
  int end_y = 0;
  const auto orthant = [&](int size) {
    if (size > 0) cones_.push_back({NcpCone::Kind::orthant, row, size});
    row += size;
  };
  const auto second_order = [&](int size) {
    cones_.push_back({NcpCone::Kind::second_order, row, size});
    row += size;
  };
  for (std::size_t i = first_pair; i < last_pair; ++i) {
    PairSlot& slot = p_.pairs[i];
    for (const SmoothSide* side : {&slot.pair.A, &slot.pair.B}) {
      if (!p_.bilevel) {
        orthant(side->rows().num_orthant);
        for (int c = 0; c < side->rows().num_cones; ++c) second_order(4);
      }
      end_y = slot.first_y + slot.pair.A.rows().num_aux + slot.pair.B.rows().num_aux;
    }
    orthant(1);
    if (slot.pair.num_friction == 0) continue;
    if (slot.pair.shape == FrictionShape::cone) {
      second_order(1 + slot.pair.num_friction);
    } else {
      for (int k = 0; k < slot.pair.num_friction; ++k) second_order(2);
    }
  }
  first_row_ = 0;
  if (last_pair > first_pair)
    first_row_ = static_cast<std::size_t>(p_.pairs[first_pair].first_row);
  else if (with_tree && !p_.joint_rows.empty())
    first_row_ = static_cast<std::size_t>(p_.joint_rows.front().first_row);
  if (with_tree)
    for (const JointRow& joint : p_.joint_rows) {
      if (joint.kind == JointRow::Kind::friction)
        second_order(2);
      else
        orthant(1);
    }
  num_rows_ = static_cast<std::size_t>(row);
  first_y_ = last_pair > first_pair ? static_cast<std::size_t>(p_.pairs[first_pair].first_y) : 0;
  last_y_ = last_pair > first_pair ? static_cast<std::size_t>(end_y) : 0;

  residual_.reset(num_unknowns());
  dv_.reset(num_unknowns());
  pivots_.resize(static_cast<std::size_t>(num_unknowns()));
}

/// Poses of the sets at the end of the step, from the pair's origin in its units.
void SmoothIsland::place_pair(PairSlot& slot) {
  for (int i = 0; i < 2; ++i) {
    const SideBody& body = slot.sides[static_cast<std::size_t>(i)];
    Pose X = body.X;
    if (body.kind == Kind::free) X = p_.free[static_cast<std::size_t>(body.index)].X_next * body.X;
    if (body.kind == Kind::tree) X = p_.tree->pose(body.index) * body.X;
    slot.side(i).X = {X.R, (X.p - slot.origin) / slot.units.length};
  }
}

/// The point where both impulses act lies where the contact point was before the step, carried back by the velocity
/// that the lighter body has the larger share of; levers are from the old centres of mass.
void SmoothIsland::set_levers(PairSlot& slot) {
  const Vector3 x = slot.point();
  Vector3 carried = Vector3::Zero();
  for (std::size_t i = 0; i < 2; ++i)
    if (slot.sides[i].kind == Kind::free)
      carried += slot.weights[i] * p_.free[static_cast<std::size_t>(slot.sides[i].index)].V_c;
  for (std::size_t i = 0; i < 2; ++i)
    if (slot.sides[i].kind == Kind::free)
      slot.levers[i] = (x - p_.time_step * carried - p_.free[static_cast<std::size_t>(slot.sides[i].index)].center) /
                       slot.units.length;
}

int SmoothIsland::place_of_dof(const SideBody& body, int dof) const {
  if (body.kind == Kind::tree) return tree_place() + p_.tree->place(dof);
  return place_of(body.index) + dof - p_.free[static_cast<std::size_t>(body.index)].first_v;
}

void SmoothIsland::add_impulse(const PairSlot& slot, const Vector6& W, double sign, double* r) const {
  for (int i = 0; i < 2; ++i) {
    const SideBody& body = slot.sides[static_cast<std::size_t>(i)];
    const double factor = sign * sign_of(i);
    if (body.kind == Kind::free) {
      const Units& units = p_.free[static_cast<std::size_t>(body.index)].units;
      const Vector3 F = W.head<3>();
      const Vector3 torque = slot.levers[static_cast<std::size_t>(i)].cross(F) + W.tail<3>();
      const double linear = factor * slot.units.impulse() / units.impulse();
      double* at = r + place_of(body.index);
      Eigen::Map<Vector3>(at) += linear * F;
      Eigen::Map<Vector3>(at + 3) += (linear * slot.units.length / units.length) * torque;
    }
    if (body.kind == Kind::tree) {
      Vector6 in_si = slot.units.impulse() * W;
      in_si.tail<3>() *= slot.units.length;
      p_.tree->add_force(body.index, slot.point(), in_si, factor, r + tree_place());
    }
  }
}

/// Bilevel: the collision at the poses of the iterate, to the end.
bool SmoothIsland::collide(PairSlot& slot) {
  const bool warm = slot.collided;
  slot.collided = p_.collisions.solve(slot.pair, slot.units.length, warm,
                                      {.kappa = p_.kappa,
                                       .tolerance = p_.inner_tolerance,
                                       .max_iterations = kCollisionIterations,
                                       .num_refinements = p_.inner_refinements});
  return slot.collided;
}

double SmoothIsland::evaluate() {
  if (std::exchange(evaluated_, false)) return norm_;
  double* r = residual_.view().data();
  for (const int i : movers_) {
    FreeMover& mover = p_.free[static_cast<std::size_t>(i)];
    mover.update();
    Eigen::Map<Vector6>(r + place_of(i)) = mover.residual();
  }
  if (with_tree_) {
    p_.tree->update();
    p_.tree->residual(r + tree_place());
    evaluate_equalities();
  }
  double worst = 0.0;
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    place_pair(slot);
    if (p_.bilevel && !collide(slot)) return std::numeric_limits<double>::infinity();
    set_levers(slot);
    std::array<SideVelocity, 2> velocities;
    const Vector3 x = slot.point();
    for (std::size_t i = 0; i < 2; ++i) {
      const SideBody& body = slot.sides[i];
      if (body.kind == Kind::free) {
        const FreeMover& mover = p_.free[static_cast<std::size_t>(body.index)];
        velocities[i] = {mover.velocity_at(x) / slot.units.speed, mover.W * (slot.units.length / slot.units.speed)};
      }
      if (body.kind == Kind::tree) {
        const Vector6 V = p_.tree->twist(body.index, x);
        velocities[i] = {V.head<3>() / slot.units.speed, V.tail<3>() * (slot.units.length / slot.units.speed)};
      }
    }
    worst = larger_norm(worst,
                        slot.pair.evaluate(slot.num_cones * p_.kappa + slot.rebound_gap, velocities[0], velocities[1]));
    add_impulse(slot, slot.pair.impulse(), -1.0, r);
  }
  if (with_tree_) worst = larger_norm(worst, evaluate_joint_rows());
  for (int i = 0; i < num_unknowns(); ++i) worst = larger_norm(worst, std::abs(r[i]));
  return norm_ = worst;
}

Vector6 SmoothIsland::velocity_after(int mover) const {
  Vector6 residual = Vector6::Zero();
  if (alone_) residual = residual_.view().segment<6>(place_of(mover));
  return p_.free[static_cast<std::size_t>(mover)].velocity_after(residual);
}

void SmoothIsland::velocities(double* v) const {
  for (const int i : movers_) Eigen::Map<Vector6>(v + place_of(i)) = velocity_after(i);
  if (!with_tree_) return;
  int at = tree_place();
  for (const int dof : p_.tree->dofs()) v[at++] = p_.tree->v[dof];
}

void SmoothIsland::velocity_changes(const double* x, double* v) const {
  for (const int i : movers_) {
    const FreeMover& mover = p_.free[static_cast<std::size_t>(i)];
    const Matrix3 Rt = mover.X_WL.R.transpose();
    const double* at = x + place_of(i);
    Vector6 own;
    own << mover.units.speed * (Rt * Eigen::Map<const Vector3>(at)),
        (mover.units.speed / mover.units.length) * (Rt * Eigen::Map<const Vector3>(at + 3));
    Eigen::Map<Vector6>(v + place_of(i)).noalias() = mover.velocity_after_derivative() * own;
  }
  if (!with_tree_) return;
  int at = tree_place();
  for (const int dof : p_.tree->dofs()) {
    v[at] = p_.units->velocity(dof) * x[at];
    ++at;
  }
}

void SmoothIsland::side_columns(PairSlot& slot, int i) {
  const SideBody& body = slot.sides[static_cast<std::size_t>(i)];
  const Units& unit = slot.units;
  const double dt = p_.time_step;
  if (body.kind == Kind::free) {
    const FreeMover& mover = p_.free[static_cast<std::size_t>(body.index)];
    FreeColumns& out = slot.free[static_cast<std::size_t>(i)];
    const double speed = mover.units.speed;
    const double spin = speed / mover.units.length;
    const Matrix3 arm = so3::hat(slot.pair.x - (mover.X_next.p - slot.origin) / unit.length);
    out.xi.setZero();
    out.xi.topLeftCorner<3, 3>().diagonal().setConstant(dt * speed / unit.length);
    out.xi.bottomRightCorner<3, 3>() = (dt * spin) * mover.E;
    out.xi.topRightCorner<3, 3>().noalias() = -(arm * out.xi.bottomRightCorner<3, 3>());
    // velocity at a place fixed in the world, which the body moves past
    out.U.setZero();
    out.U.topLeftCorner<3, 3>() = (speed / unit.speed) * (Matrix3::Identity() - dt * so3::hat(mover.W));
    out.U.topRightCorner<3, 3>() = -(spin * unit.length / unit.speed) * arm;
    out.U.bottomRightCorner<3, 3>().diagonal().setConstant(spin * unit.length / unit.speed);
    const double linear = unit.impulse() / mover.units.impulse();
    const double angular = linear * unit.length / mover.units.length;
    out.force.setZero();
    out.force.topLeftCorner<3, 3>().diagonal().setConstant(linear);
    out.force.bottomLeftCorner<3, 3>() = angular * so3::hat(slot.levers[static_cast<std::size_t>(i)]);
    out.force.bottomRightCorner<3, 3>().diagonal().setConstant(angular);
    out.center.setZero();
    out.center.leftCols<3>().diagonal().setConstant(dt * speed / unit.length);
    if (!mover.arm.isZero(0.0))
      out.center.rightCols<3>() = -(dt * spin / unit.length) * so3::hat(mover.arm_next) * mover.E;
  }
  if (body.kind == Kind::tree) {
    TreeMover::Columns& out = slot.tree[static_cast<std::size_t>(i)];
    p_.tree->columns(body.index, slot.point(), slot.impulse(), out);
    const int n = out.count;
    out.xi.topLeftCorner(3, n) /= unit.length;
    out.U.topLeftCorner(3, n) /= unit.speed;
    out.U.bottomLeftCorner(3, n) *= unit.length / unit.speed;
    out.force.topLeftCorner(3, n) *= unit.impulse();
    out.force.bottomLeftCorner(3, n) *= unit.impulse() * unit.length;
  }
}

/// S of the momenta of one side by the velocities of another.
void SmoothIsland::sub_block(const PairSlot& slot, int row_side, int column_side) {
  const SideBody& row_body = slot.sides[static_cast<std::size_t>(row_side)];
  const SideBody& column_body = slot.sides[static_cast<std::size_t>(column_side)];
  const auto Y_xi = slot.pair.Y.block<6, 6>(0, 6 * column_side);
  const auto Y_U = slot.pair.Y.block<6, 6>(0, 12);
  const double sign = -sign_of(row_side);
  const double column_sign = sign_of(column_side);

  // the impulse by the velocities of the column's side
  int count = 6;
  const std::span<const int> way =
      column_body.kind == Kind::tree ? way_of(p_.tree->model(), column_body.index) : std::span<const int>();
  Eigen::Matrix<double, 6, 6> fixed;
  if (column_body.kind == Kind::free) {
    const FreeColumns& column = slot.free[static_cast<std::size_t>(column_side)];
    fixed.noalias() = Y_xi * column.xi + (column_sign * Y_U) * column.U;
    // the shared point follows the velocities
    if (row_body.kind == Kind::free && slot.weights[static_cast<std::size_t>(column_side)] != 0.0) {
      const Vector3 F = slot.pair.impulse().head<3>();
      fixed.bottomRows<3>() += slot.weights[static_cast<std::size_t>(column_side)] * (so3::hat(F) * column.center);
    }
  } else {
    const TreeMover::Columns& column = slot.tree[static_cast<std::size_t>(column_side)];
    count = column.count;
    if (response_.cols() < count) response_.setZero(6, count);
    response_.leftCols(count) = Y_xi.lazyProduct(column.xi.leftCols(count));
    response_.leftCols(count) += column_sign * Y_U.lazyProduct(column.U.leftCols(count));
  }
  const auto place = [&](const SideBody& body, std::span<const int> dofs, int k) {
    return body.kind == Kind::free ? place_of(body.index) + k
                                   : tree_place() + p_.tree->place(dofs[static_cast<std::size_t>(k)]);
  };
  if (row_body.kind == Kind::free && column_body.kind == Kind::free) {
    const Eigen::Matrix<double, 6, 6> block = sign * slot.free[static_cast<std::size_t>(row_side)].force * fixed;
    for (int k = 0; k < 6; ++k) {
      double* row = S_.row(place_of(row_body.index) + k) + place_of(column_body.index);
      for (int j = 0; j < 6; ++j) row[j] += block(k, j);
    }
    return;
  }
  const std::span<const int> row_way =
      row_body.kind == Kind::tree ? way_of(p_.tree->model(), row_body.index) : std::span<const int>();
  const int num_rows = row_body.kind == Kind::free ? 6 : static_cast<int>(row_way.size());
  for (int k = 0; k < num_rows; ++k) {
    Vector6 force;
    if (row_body.kind == Kind::free)
      force = slot.free[static_cast<std::size_t>(row_side)].force.row(k).transpose();
    else
      force = slot.tree[static_cast<std::size_t>(row_side)].force.col(k);
    double* row = S_.row(place(row_body, row_way, k));
    for (int j = 0; j < count; ++j) {
      const double value = column_body.kind == Kind::free ? force.dot(fixed.col(j)) : force.dot(response_.col(j));
      row[place(column_body, way, j)] += sign * value;
    }
  }
  if (row_side != column_side || row_body.kind != Kind::tree) return;
  const MatrixX& turning = slot.tree[static_cast<std::size_t>(row_side)].turning;
  for (int k = 0; k < num_rows; ++k)
    for (int j = 0; j < num_rows; ++j)
      S_.row(place(row_body, row_way, k))[place(row_body, row_way, j)] += sign * turning(k, j);
}

void SmoothIsland::add_pair(PairSlot& slot) {
  for (int i = 0; i < 2; ++i) side_columns(slot, i);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      if (slot.sides[static_cast<std::size_t>(i)].kind != Kind::fixed &&
          slot.sides[static_cast<std::size_t>(j)].kind != Kind::fixed)
        sub_block(slot, i, j);
}

void SmoothIsland::assemble() {
  S_.reset(num_unknowns(), num_unknowns());
  for (const int i : movers_) {
    const int at = place_of(i);
    const Matrix6 A = p_.free[static_cast<std::size_t>(i)].matrix();
    for (int k = 0; k < 6; ++k)
      for (int j = 0; j < 6; ++j) S_.row(at + k)[at + j] = A(k, j);
  }
  if (with_tree_) {
    p_.tree->add_matrix(S_.row(tree_place()) + tree_place(), S_.width());
    for (const JointRow& row : p_.joint_rows) {
      double own = 0.0;
      double slope = 0.0;
      joint_response(row, nullptr, own, slope);
      const int at = tree_place() + p_.tree->place(row.dof);
      S_.row(at)[at] -= slope;
    }
    add_equalities();
  }
}

MatrixX SmoothIsland::velocity_matrix() {
  assemble();
  for (std::size_t k = first_pair_; k < last_pair_; ++k) add_pair(p_.pairs[k]);
  return S_.view();
}

bool SmoothIsland::factor() {
  assemble();
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    if (p_.pairs[k].left_out) continue;
    if (!p_.pairs[k].pair.factor(p_.frozen_normal)) return false;
    add_pair(p_.pairs[k]);
  }
  return lu_factor(S_.row(0), S_.width(), num_unknowns(), pivots_.data());
}

void SmoothIsland::solve_velocities(double* x, std::ptrdiff_t stride, int columns) const {
  lu_solve(S_.row(0), S_.width(), num_unknowns(), pivots_.data(), x, stride, columns);
}

void SmoothIsland::solve_velocities_transposed(double* x) const {
  lu_solve_transposed(S_.row(0), S_.width(), num_unknowns(), pivots_.data(), x);
}

/// The twist of a side, or the change of its velocity, along the last dv.
Vector6 SmoothIsland::motion(const PairSlot& slot, int i, bool velocity) const {
  const SideBody& body = slot.sides[static_cast<std::size_t>(i)];
  const double* dv = dv_.view().data();
  if (body.kind == Kind::free) {
    const FreeColumns& columns = slot.free[static_cast<std::size_t>(i)];
    const Eigen::Map<const Vector6> own(dv + place_of(body.index));
    return (velocity ? columns.U : columns.xi) * own;
  }
  Vector6 out = Vector6::Zero();
  if (body.kind == Kind::fixed) return out;
  const TreeMover::Columns& columns = slot.tree[static_cast<std::size_t>(i)];
  const std::span<const int> way = way_of(p_.tree->model(), body.index);
  for (int k = 0; k < columns.count; ++k)
    out += dv[tree_place() + p_.tree->place(way[static_cast<std::size_t>(k)])] *
           (velocity ? columns.U : columns.xi).col(k);
  return out;
}

void SmoothIsland::correct(std::span<const double> r, double second_order, std::span<double> dz, std::span<double> ds) {
  double* dv = dv_.view().data();
  for (int i = 0; i < num_unknowns(); ++i) dv[i] = -residual_[i];
  const auto local = [&](int row) { return static_cast<std::size_t>(row) - first_row_; };
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    const double* at = r.data() + local(slot.first_row);
    const int rows_A = SmoothSide::num_rows(slot.pair.A.rows());
    const int rows_B = SmoothSide::num_rows(slot.pair.B.rows());
    Vector6 W;
    slot.pair.bend(p_.bilevel ? 0.0 : second_order, dz.data() + local(slot.first_row) + rows_A + rows_B);
    if (p_.bilevel)
      slot.pair.respond(p_.inner_d.data(), p_.inner_d.data(), at, W);
    else
      slot.pair.respond(at, at + rows_A, at + rows_A + rows_B, W);
    add_impulse(slot, W, 1.0, dv);
  }
  if (with_tree_)
    for (const JointRow& row : p_.joint_rows) {
      double own = 0.0;
      double slope = 0.0;
      joint_response(row, r.data() + local(row.first_row), own, slope);
      dv[tree_place() + p_.tree->place(row.dof)] += own;
    }
  solve_velocities(dv);

  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    const std::size_t first = local(slot.first_row);
    const auto rows_A = static_cast<std::size_t>(SmoothSide::num_rows(slot.pair.A.rows()));
    const auto rows_B = static_cast<std::size_t>(SmoothSide::num_rows(slot.pair.B.rows()));
    const double* at = r.data() + first;
    double* z = dz.data() + first;
    double* s = ds.data() + first;
    double* dy = p_.dy.data() + slot.first_y;
    if (p_.bilevel) {
      slot.pair.recover_contact(at, motion(slot, 0, false), motion(slot, 1, false),
                                motion(slot, 1, true) - motion(slot, 0, true), z, s);
      continue;
    }
    slot.pair.recover(at, at + rows_A, at + rows_A + rows_B, motion(slot, 0, false), motion(slot, 1, false),
                      motion(slot, 0, true), motion(slot, 1, true), z, s, z + rows_A, s + rows_A, z + rows_A + rows_B,
                      s + rows_A + rows_B, dy, dy + slot.pair.A.rows().num_aux);
  }
  if (with_tree_)
    for (const JointRow& row : p_.joint_rows) {
      const std::size_t at = local(row.first_row);
      recover_joint_row(row, r.data() + at, dz.data() + at, ds.data() + at);
    }
}

void SmoothIsland::save() {
  for (const int i : movers_) {
    FreeMover& mover = p_.free[static_cast<std::size_t>(i)];
    mover.V_saved = mover.V;
    mover.W_saved = mover.W;
  }
  if (with_tree_) {
    p_.tree->v_saved = p_.tree->v;
    p_.lambda_saved = p_.lambda;
  }
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    slot.x_saved = slot.pair.x;
    slot.alpha_saved = slot.pair.alpha;
    slot.n_saved = slot.pair.n;
    slot.T_saved = slot.pair.T;
  }
  for (std::size_t i = first_y_; i < last_y_; ++i) p_.y_saved[i] = p_.y[i];
}

void SmoothIsland::advance(double a) {
  const double* dv = dv_.view().data();
  for (const int i : movers_) {
    FreeMover& mover = p_.free[static_cast<std::size_t>(i)];
    const double* own = dv + place_of(i);
    const double speed = mover.units.speed;
    mover.V = mover.V_saved + (a * speed) * Eigen::Map<const Vector3>(own);
    mover.W = mover.W_saved + (a * speed / mover.units.length) * Eigen::Map<const Vector3>(own + 3);
  }
  if (with_tree_) {
    for (int i = 0; i < p_.tree->size(); ++i) {
      const int dof = p_.tree->dofs()[static_cast<std::size_t>(i)];
      p_.tree->v[dof] = p_.tree->v_saved[dof] + a * p_.units->velocity(dof) * dv[tree_place() + i];
    }
    for (std::size_t i = 0; i < p_.lambda.size(); ++i)
      p_.lambda[i] = p_.lambda_saved[i] + a * dv[static_cast<std::size_t>(n_) + i];
  }
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    PairSlot& slot = p_.pairs[k];
    if (!p_.bilevel) {
      slot.pair.x = slot.x_saved + a * slot.pair.dx;
      slot.pair.alpha = slot.alpha_saved + a * slot.pair.dalpha;
    }
    slot.pair.n = slot.n_saved;
    slot.pair.T = slot.T_saved;
  }
  if (p_.bilevel) return;
  for (std::size_t i = first_y_; i < last_y_; ++i) p_.y[i] = p_.y_saved[i] + a * p_.dy[i];
}

/// Normals and tangents too: they are carried from iterate to iterate.
template <class On>
void SmoothIsland::for_each_part(On&& on) const {
  for (const int i : movers_) {
    FreeMover& mover = p_.free[static_cast<std::size_t>(i)];
    on(mover.V.data(), std::size_t{3});
    on(mover.W.data(), std::size_t{3});
  }
  if (with_tree_) {
    on(p_.tree->v.data(), static_cast<std::size_t>(p_.tree->v.size()));
    on(p_.lambda.data(), p_.lambda.size());
  }
  for (std::size_t k = first_pair_; k < last_pair_; ++k) {
    SmoothPair& pair = p_.pairs[k].pair;
    on(pair.x.data(), std::size_t{3});
    on(&pair.alpha, std::size_t{1});
    on(pair.n.data(), std::size_t{3});
    on(pair.T.data(), std::size_t{6});
  }
  on(p_.y.data() + first_y_, last_y_ - first_y_);
}

void SmoothIsland::write(std::vector<double>& y) const {
  y.clear();
  for_each_part([&](const double* numbers, std::size_t count) { y.insert(y.end(), numbers, numbers + count); });
}

void SmoothIsland::read(const std::vector<double>& y) {
  const double* from = y.data();
  for_each_part([&](double* numbers, std::size_t count) {
    std::copy_n(from, count, numbers);
    from += count;
  });
}

}  // namespace tangere
