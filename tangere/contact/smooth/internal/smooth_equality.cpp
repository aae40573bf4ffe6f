#include "tangere/contact/smooth/internal/smooth_equality.hpp"

#include <algorithm>
#include <limits>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

Pose pose_of(const Model& model, const Data& data, int body) {
  return body == kWorld ? Pose() : body_pose(model, data, body);
}

std::array<Vector6, 2> one_sided(int side, const Vector6& twist) {
  std::array<Vector6, 2> out{Vector6::Zero(), Vector6::Zero()};
  out[side] = twist;
  return out;
}

}  // namespace

SmoothEquality SmoothEquality::loop(const LoopConstraint& constraint, const Model& model, const SmoothUnits& units,
                                    const CoordinateUnits& coordinates, double time_step,
                                    const ContactOptions& options) {
  SmoothEquality out;
  out.is_loop_ = true;
  out.num_rows_ = constraint.kind == LoopConstraint::Kind::connect ? 3 : 6;
  out.bodies_ = {constraint.body_A, constraint.body_B};
  out.X_AC_ = constraint.X_AC;
  out.X_BC_ = constraint.X_BC;
  out.units_.mass = std::numeric_limits<double>::infinity();
  for (const int body : out.bodies_) {
    const std::span<const int> way = way_of(model, body);
    out.dofs_.insert(out.dofs_.end(), way.begin(), way.end());
    if (!way.empty() && units.mass(body) < out.units_.mass) out.units_ = units.body(body, time_step);
  }
  out.time_step_ = time_step;
  out.keep_ = 1.0 - options.correction;
  out.compliance_ = options.compliance;
  out.coordinates_ = &coordinates;
  out.old_motions_.setZero(6, static_cast<Eigen::Index>(out.dofs_.size()));
  out.resize();
  return out;
}

SmoothEquality SmoothEquality::mimic(int joint, const Model& model, const CoordinateUnits& coordinates,
                                     double time_step, const ContactOptions& options) {
  SmoothEquality out;
  const Joint& at = model.joint(joint);
  const Joint& source = model.joint(at.mimic_source);
  out.num_rows_ = 1;
  out.dofs_ = {at.first_v, source.first_v};
  out.q_ = {at.first_q, source.first_q};
  out.multiplier_ = at.spec.mimic->multiplier;
  out.offset_ = at.spec.mimic->offset;
  out.time_step_ = time_step;
  out.keep_ = 1.0 - options.correction;
  out.compliance_ = options.compliance;
  out.coordinates_ = &coordinates;
  out.resize();

  // linear: all matrices are constants
  const double rate = 1.0 / (time_step * coordinates.velocity(at.first_v));
  const double coefficients[2] = {1.0, -out.multiplier_};
  for (int k = 0; k < 2; ++k) {
    const int dof = out.dofs_[k];
    out.G(0, k) = coefficients[k] * coordinates.velocity(dof) / coordinates.velocity(at.first_v);
    out.N(k, 0) = coefficients[k] * coordinates.momentum(at.first_v) / coordinates.momentum(dof);
    out.G_next(0, k) = coefficients[k] * rate;
    out.G_old(0, k) = -out.keep_ * coefficients[k] * rate;
  }
  return out;
}

void SmoothEquality::resize() {
  const auto count = static_cast<Eigen::Index>(dofs_.size());
  for (MatrixX* matrix : {&G, &G_next, &G_old}) matrix->setZero(num_rows_, count);
  for (MatrixX* matrix : {&T, &T_next}) matrix->setZero(count, count);
  N.setZero(count, num_rows_);
}

/// Rows of g over dt c; angular ones through the derivative of the rotation vector.
Matrix6 SmoothEquality::gap_rate(const Matrix3& axes, const Vector3& turn) const {
  Matrix6 out = Matrix6::Zero();
  const double linear = 1.0 / (time_step_ * units_.speed);
  out.topLeftCorner<3, 3>() = linear * axes.transpose();
  out.bottomRightCorner<3, 3>() =
      (linear * units_.length) * so3::right_jacobian_inverse(Vector3(-turn)) * axes.transpose();
  return out;
}

void SmoothEquality::begin(const Model& model, const Data& data, VectorArgument q) {
  if (!is_loop_) {
    old_gap_[0] = q[q_[0]] - multiplier_ * q[q_[1]] - offset_;
    return;
  }
  old_A_ = pose_of(model, data, bodies_[0]) * X_AC_;
  old_B_ = pose_of(model, data, bodies_[1]) * X_BC_;
  old_turn_ = num_rows_ == 6 ? so3::log(old_A_.R.transpose() * old_B_.R) : Vector3::Zero();
  old_gap_ << old_A_.R.transpose() * (old_B_.p - old_A_.p), old_turn_;
}

void SmoothEquality::evaluate(TreeMover& tree, const double* lambda, double* r, double* residual) {
  if (!is_loop_) {
    const double gap = tree.q_next[q_[0]] - multiplier_ * tree.q_next[q_[1]] - offset_;
    r[0] = (gap - keep_ * old_gap_[0]) / (time_step_ * coordinates_->velocity(dofs_[0])) + compliance_ * lambda[0];
    for (int k = 0; k < 2; ++k) residual[tree.place(dofs_[k])] -= N(k, 0) * lambda[0];
    return;
  }
  A_ = pose_of(tree.model(), tree.data(), bodies_[0]) * X_AC_;
  B_ = pose_of(tree.model(), tree.data(), bodies_[1]) * X_BC_;
  turn_ = num_rows_ == 6 ? so3::log(A_.R.transpose() * B_.R) : Vector3::Zero();
  Vector6 gap;
  gap << A_.R.transpose() * (B_.p - A_.p), turn_;
  const double linear = 1.0 / (time_step_ * units_.speed);
  for (int i = 0; i < num_rows_; ++i)
    r[i] = (i < 3 ? linear : linear * units_.length) * (gap[i] - keep_ * old_gap_[i]) + compliance_ * lambda[i];
  W_.setZero();
  W_.head<3>() = units_.impulse() * (A_.R * Eigen::Map<const Vector3>(lambda));
  if (num_rows_ == 6)
    W_.tail<3>() = (units_.impulse() * units_.length) * (A_.R * Eigen::Map<const Vector3>(lambda + 3));
  for (int side = 0; side < 2; ++side) tree.add_force(bodies_[side], B_.p, W_, -sign_of(side), residual);
}

/// The impulse turns with A, and acts at a point of B.
Vector6 SmoothEquality::carried_impulse(const std::array<Vector6, 2>& next) const {
  const Vector3 turn = next[0].tail<3>();
  Vector6 out;
  out << turn.cross(W_.head<3>()), turn.cross(W_.tail<3>()) + next[1].head<3>().cross(W_.head<3>());
  return out;
}

Vector6 SmoothEquality::carried_gap(const std::array<Vector6, 2>& next, const std::array<Vector6, 2>& old) const {
  return gap_rate(A_.R, turn_) * (next[1] - next[0]) - keep_ * (gap_rate(old_A_.R, old_turn_) * (old[1] - old[0]));
}

void SmoothEquality::linearise(TreeMover& tree) {
  if (!is_loop_) return;
  const Matrix6 rate = gap_rate(A_.R, turn_);
  Matrix6 basis = Matrix6::Zero();
  basis.topLeftCorner<3, 3>() = units_.impulse() * A_.R;
  basis.bottomRightCorner<3, 3>() = (units_.impulse() * units_.length) * A_.R;
  for (int side = 0; side < 2; ++side) tree.columns(bodies_[side], B_.p, W_, Units{}, columns_[side]);
  const int first[2] = {0, columns_[0].count};
  for (int i = 0; i < 2; ++i) {
    const TreeMover::Columns& row = columns_[i];
    for (int k = 0; k < row.count; ++k) {
      const Vector6 force = sign_of(i) * row.force.col(k);
      G.col(first[i] + k) = sign_of(i) * (rate * row.xi.col(k)).head(num_rows_);
      N.row(first[i] + k) = (basis.transpose() * force).head(num_rows_).transpose();
      for (int j = 0; j < 2; ++j) {
        const TreeMover::Columns& column = columns_[j];
        for (int l = 0; l < column.count; ++l) {
          const Vector6 change = carried_impulse(one_sided(j, column.xi.col(l)));
          T(first[i] + k, first[j] + l) = force.dot(change) + (i == j ? sign_of(i) * row.turning(k, l) : 0.0);
        }
      }
    }
  }
}

void SmoothEquality::differentiate(const TreeMover& tree, const Data& data) {
  if (!is_loop_) return;
  const Matrix6 rate = gap_rate(A_.R, turn_);
  const Matrix6 old_rate = gap_rate(old_A_.R, old_turn_);
  int first = 0;
  for (int j = 0; j < 2; ++j) {
    const TreeMover::Columns& column = columns_[j];
    way_columns(tree.model(), data, bodies_[j], old_B_.p, old_motions_.middleCols(first, column.count));
    for (int l = 0; l < column.count; ++l) {
      const Vector6 xi = column.xi_q.col(l);
      const Vector6 change = carried_impulse(one_sided(j, xi));
      G_next.col(first + l) = sign_of(j) * (rate * xi).head(num_rows_);
      G_old.col(first + l) = (-keep_ * sign_of(j)) * (old_rate * old_motions_.col(first + l)).head(num_rows_);
      int at = 0;
      for (int i = 0; i < 2; ++i)
        for (int k = 0; k < columns_[i].count; ++k, ++at)
          T_next(at, first + l) = sign_of(i) * columns_[i].force.col(k).dot(change);
    }
    // motions of the coordinates turn too, in the axes that momenta have
    MatrixX& turning = turning_[j];
    tree.turning_by_next(bodies_[j], column, turning);
    T_next.block(first, first, column.count, column.count) += sign_of(j) * turning;
    first += column.count;
  }
}

}  // namespace tangere
