#include "tangere/trajopt/internal/knot_functions.hpp"

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/kinematics.hpp"

namespace tangere::internal {
namespace {

const Model& require_model(const Dynamics& dynamics) {
  if (dynamics.model() == nullptr) throw InputError("dynamics", "have no model, so no bodies");
  return *dynamics.model();
}

}  // namespace

void StateDifference::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  VectorX& target = knot.memory.scratch.a;
  VectorX& difference = knot.memory.scratch.b;
  MatrixX& d_x = knot.memory.scratch.square;
  target = targets_.col(targets_.cols() == 1 ? 0 : knot.index);
  knot.dynamics.minus(target, knot.x, difference);
  for (int i = 0; i < size(); ++i) value[i] = difference[coordinates_[i]];
  if (J == nullptr) return;
  knot.dynamics.minus_jacobian(target, knot.x, d_x);
  for (int i = 0; i < size(); ++i) J->x.row(i) = d_x.row(coordinates_[i]);
}

void StateDifference::verify(const Dynamics& dynamics) const {
  if (targets_.rows() != dynamics.nx())
    throw InputError("target",
                     "must have " + std::to_string(dynamics.nx()) + " numbers, got " + std::to_string(targets_.rows()));
  if (!targets_.allFinite()) throw InputError("target", "must be finite");
}

void ControlDifference::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  value = knot.u - target_;
  if (J != nullptr) J->u.diagonal().setOnes();
}

void ControlDifference::verify(const Dynamics& dynamics) const {
  if (target_.size() != dynamics.nu())
    throw InputError("target",
                     "must have " + std::to_string(dynamics.nu()) + " numbers, got " + std::to_string(target_.size()));
  if (!target_.allFinite()) throw InputError("target", "must be finite");
}

void ControlSides::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  for (int i = 0; i < size(); ++i) {
    const Side& side = sides_[i];
    value[i] = side.sign * (knot.u[side.coordinate] - side.limit);
    if (J != nullptr) J->u(i, side.coordinate) = side.sign;
  }
}

void ControlSides::verify(const Dynamics& /*dynamics*/) const {}

void StateSides::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  for (int i = 0; i < size(); ++i) {
    const Side& side = sides_[i];
    value[i] = side.sign * (knot.x[index_[i]] - side.limit);
    if (J != nullptr) J->x(i, side.coordinate) = side.sign;
  }
}

void StateSides::verify(const Dynamics& /*dynamics*/) const {}

void FrameDifference::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  Matrix6X& body_J = knot.memory.scratch.twist;
  const Model& model = *knot.dynamics.model();
  const Data& data = knot.kinematics();
  const Pose X_WB = body_pose(model, data, body_);
  const Pose X_WF = X_WB * X_BF_;
  const Matrix3 R_TF = target_.R.transpose() * X_WF.R;
  value.head<3>() = target_.R.transpose() * (X_WF.p - target_.p);
  const Vector3 turn = position_only_ ? Vector3::Zero() : so3::log(R_TF);
  if (!position_only_) value.tail<3>() = turn;
  if (J == nullptr) return;
  // columns: velocity of the frame's origin and rate of turn, both in world axes
  body_jacobian(model, data, body_, body_J);
  const Vector3 arm = X_WF.p - X_WB.p;
  const Matrix3 J_log = position_only_ ? Matrix3::Identity() : so3::right_jacobian_inverse(turn);
  for (int k = 0; k < model.nv(); ++k) {
    const Vector3 omega = body_J.col(k).tail<3>();
    const Vector3 velocity = body_J.col(k).head<3>() + omega.cross(arm);
    J->x.block<3, 1>(0, k) = target_.R.transpose() * velocity;
    if (!position_only_) J->x.block<3, 1>(3, k) = J_log * (X_WF.R.transpose() * omega);
  }
}

void FrameDifference::verify(const Dynamics& dynamics) const {
  const Model& model = require_model(dynamics);
  if (body_ < 0 || body_ >= model.num_bodies()) throw InputError("body", "is none of the model");
}

void CenterOfMassDifference::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  Matrix3X& center_J = knot.memory.scratch.point;
  const Model& model = *knot.dynamics.model();
  const Data& data = knot.kinematics();
  value = center_of_mass(model, data) - target_;
  if (J == nullptr) return;
  center_of_mass_jacobian(model, data, center_J);
  J->x.leftCols(model.nv()) = center_J;
}

void CenterOfMassDifference::verify(const Dynamics& dynamics) const {
  if (!dynamics.has_fixed_geometry()) throw InputError("dynamics", "have masses that the design changes");
  if (!(require_model(dynamics).total_mass() > 0.0)) throw InputError("dynamics", "have no mass");
}

void OwnVector::verify(const Dynamics& /*dynamics*/) const {
  if (size_ < 1) throw InputError("size", "must be at least 1, got " + std::to_string(size_));
  if (!f_) throw InputError("value", "has no function");
}

}  // namespace tangere::internal
