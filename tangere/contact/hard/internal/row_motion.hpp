#pragma once

/// The velocity that a row reads and the force it applies, and how both move with its place and frame (private to
/// contact).

#include <Eigen/Geometry>

#include "tangere/contact/hard/problem.hpp"
#include "tangere/math/scratch_matrix.hpp"
#include "tangere/math/so3.hpp"

namespace tangere {

inline Vector3 cross(const Vector3& a, const Vector3& b) { return a.cross(b); }

/// From twists about the place x to twists about the pair's origin: at x, v + w × x.
template <class Rows>
Rows about_origin(const Rows& about_place, const Vector3& x) {
  Rows out = about_place;
  const Matrix3 X = so3::hat(x);
  for (const int k : {0, 6}) out.template middleCols<3>(k + 3) -= about_place.template middleCols<3>(k) * X;
  return out;
}

/// The impulse of a block on B: force and torque, world axes.
struct Impulse {
  Vector3 force = Vector3::Zero();
  Vector3 torque = Vector3::Zero();
};

inline Impulse impulse_of(const ContactProblem& problem, const RowBlock& block, const ScratchVector& f) {
  Impulse out;
  for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
    const int axis = problem.rows[r].axis;
    (axis < 3 ? out.force : out.torque) += f[r] * block.D.col(axis % 3);
  }
  return out;
}

/// At a velocity: how the velocity of row `axis` changes as the place and the frame move, a column a direction.
template <int Columns>
Eigen::Matrix<double, 1, Columns> row_motion(const RowBlock& block, int axis, const Vector6& V,
                                             const Eigen::Matrix<double, 3, Columns>& place,
                                             const Eigen::Matrix<double, 3, Columns>& turn) {
  const Vector3 along = block.D.col(axis % 3);
  const Vector3 w = V.tail<3>();
  // along · (w × dp − dθ × u) and along · (− dθ × w)
  if (axis >= 3) return cross(along, w).transpose() * turn;
  const Vector3 u = V.head<3>() + cross(w, block.x);
  return cross(along, w).transpose() * place + cross(along, u).transpose() * turn;
}

/// The covector that reads a row's velocity from a twist about the pair's origin.
inline Vector6 row_reader(const RowBlock& block, int axis) {
  const Vector3 along = block.D.col(axis % 3);
  Vector6 out;
  if (axis >= 3)
    out << Vector3::Zero(), along;
  else
    out << along, cross(block.x, along);
  return out;
}

}  // namespace tangere
