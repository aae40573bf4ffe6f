/// The Newton matrix of the single-level problem in the velocities alone, once every pair has answered for itself
/// (SmoothPair::Y): S = d(momenta)/dv − Σ forces (Y_xi xi + Y_U U), and its factors.

#include <Eigen/Geometry>

#include "tangere/contact/smooth/internal/smooth_problem.hpp"
#include "tangere/math/small_lu.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/links.hpp"

namespace tangere {
namespace {

using Kind = SideBody::Kind;

}  // namespace

void SmoothIsland::side_columns(PairSlot& slot, int i) {
  const SideBody& body = slot.sides[i];
  const Units& unit = slot.units;
  const double dt = p_.time_step;
  if (body.kind == Kind::free) {
    const FreeMover& mover = p_.free[body.index];
    FreeColumns& out = slot.free[i];
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
    out.force.bottomLeftCorner<3, 3>() = angular * so3::hat(slot.levers[i]);
    out.force.bottomRightCorner<3, 3>().diagonal().setConstant(angular);
    out.center.setZero();
    out.center.leftCols<3>().diagonal().setConstant(dt * speed / unit.length);
    if (!mover.arm.isZero(0.0))
      out.center.rightCols<3>() = -(dt * spin / unit.length) * so3::hat(mover.arm_next) * mover.E;
  }
  if (body.kind == Kind::tree) {
    p_.tree->columns(body.index, slot.point(), slot.impulse(), unit, slot.tree[i]);
  }
}

/// S of the momenta of one side by the velocities of another.
void SmoothIsland::sub_block(const PairSlot& slot, int row_side, int column_side) {
  const SideBody& row_body = slot.sides[row_side];
  const SideBody& column_body = slot.sides[column_side];
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
    const FreeColumns& column = slot.free[column_side];
    fixed.noalias() = Y_xi * column.xi + (column_sign * Y_U) * column.U;
    // the shared point follows the velocities
    if (row_body.kind == Kind::free && slot.weights[column_side] != 0.0) {
      const Vector3 F = slot.pair.impulse().head<3>();
      fixed.bottomRows<3>() += slot.weights[column_side] * (so3::hat(F) * column.center);
    }
  } else {
    const TreeMover::Columns& column = slot.tree[column_side];
    count = column.count;
    if (response_.cols() < count) response_.setZero(6, count);
    for (int k = 0; k < count; ++k)
      response_.col(k).noalias() = Y_xi * column.xi.col(k) + column_sign * (Y_U * column.U.col(k));
  }
  const auto place = [&](const SideBody& body, std::span<const int> dofs, int k) {
    return body.kind == Kind::free ? place_of(body.index) + k : tree_place() + p_.tree->place(dofs[k]);
  };
  if (row_body.kind == Kind::free && column_body.kind == Kind::free) {
    const Eigen::Matrix<double, 6, 6> block = sign * slot.free[row_side].force * fixed;
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
      force = slot.free[row_side].force.row(k).transpose();
    else
      force = slot.tree[row_side].force.col(k);
    double* row = S_.row(place(row_body, row_way, k));
    for (int j = 0; j < count; ++j) {
      const double value = column_body.kind == Kind::free ? force.dot(fixed.col(j)) : force.dot(response_.col(j));
      row[place(column_body, way, j)] += sign * value;
    }
  }
  if (row_side != column_side || row_body.kind != Kind::tree) return;
  const MatrixX& turning = slot.tree[row_side].turning;
  for (int k = 0; k < num_rows; ++k)
    for (int j = 0; j < num_rows; ++j)
      S_.row(place(row_body, row_way, k))[place(row_body, row_way, j)] += sign * turning(k, j);
}

void SmoothIsland::add_pair(PairSlot& slot) {
  for (int i = 0; i < 2; ++i) side_columns(slot, i);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      if (slot.sides[i].kind != Kind::fixed && slot.sides[j].kind != Kind::fixed) sub_block(slot, i, j);
}

void SmoothIsland::assemble() {
  S_.reset(num_unknowns(), num_unknowns());
  for (const int i : movers_) {
    const int at = place_of(i);
    const Matrix6 A = p_.free[i].matrix();
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

}  // namespace tangere
