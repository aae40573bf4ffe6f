#pragma once

/// The articulated trees of a model in the single-level problem (private to contact).
///
///   M̃ (v⁺ − v_free) − Σ J(q⁺, x)ᵀ F = 0,   q⁺ = q ⊕ dt v⁺
///
/// M̃ and v_free are of the old state (sim/step.hpp); places and Jacobians of the contacts are at q⁺. Quaternions move
/// by the Cayley map. v⁺ has the linear velocity of free joints in the *old* axes; with v' the same
/// in the new ones, velocities are J(q⁺) v', and forces its transpose.

#include <span>
#include <vector>

#include "tangere/contact/smooth/smooth_units.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere {

class TreeMover {
 public:
  /// `dofs`: the coordinates it moves, in the order of the model; all others stay where they are.
  TreeMover(const Model& model, const CoordinateUnits& units, std::vector<int> dofs);

  [[nodiscard]] int size() const { return static_cast<int>(dofs_.size()); }
  [[nodiscard]] std::span<const int> dofs() const { return dofs_; }
  /// The place of a model's coordinate among the tree's; -1 for others.
  [[nodiscard]] int place(int dof) const { return places_[dof]; }

  /// M (dense, of the whole model) with what is added to its diagonal.
  void begin(VectorArgument q, const MatrixX& M, VectorArgument diagonal, VectorArgument v_free, double time_step);
  /// Poses and velocities at the iterate.
  void update();
  /// r[i] of each coordinate, in units, without contact.
  void residual(double* r) const;
  /// Adds M̃ to a block of rows `width` apart.
  void add_matrix(double* S, std::ptrdiff_t width) const;
  /// M̃ y, one a coordinate, no units.
  void momentum(const double* y, double* out) const;

  [[nodiscard]] Pose pose(int body) const { return body_pose(model_, data_, body); }
  [[nodiscard]] Vector6 twist(int body, const Vector3& x) const { return velocities_.twist(model_, data_, body, x); }

  /// How a body answers to the tree's coordinates on its way, at a place x fixed in the world. One column a coordinate
  /// of way_of, in units of velocity (and forces in units of momentum); rows in those that `columns` is given.
  struct Columns {
    int count = 0;
    /// Its displacement, the change of its twist at x, and the motions that forces meet.
    Matrix6X xi;
    Matrix6X U;
    Matrix6X force;
    /// d(forceᵀ W) at fixed W, count x count.
    MatrixX turning;
    /// The same with respect to q⁺ in its own tangent (no units); U by v' is xi_q too. For derivatives.
    Matrix6X xi_q;
    Matrix6X U_q;
    MatrixX turning_q;
  };
  void columns(int body, const Vector3& x, const Vector6& W, const Units& unit, Columns& out);
  /// d(forceᵀ W) of columns by q⁺ in its own tangent: rows in units of momentum and in the old axes, as `force`.
  void turning_by_next(int body, const Columns& columns, MatrixX& out) const;
  /// forceᵀ W added to r (one a coordinate of the tree), times `sign`.
  void add_force(int body, const Vector3& x, const Vector6& W, double sign, double* r);

  // iterate, in the model's coordinates
  VectorX v;
  VectorX v_saved;
  /// v' and q⁺.
  VectorX v_next;
  VectorX q_next;

  /// The joints that turn by a quaternion: where their angular (and, for free ones, linear) coordinates start.
  struct Turning {
    int linear = -1;
    int angular = 0;
    Matrix3 X = Matrix3::Identity();  // the turn of the step
    Matrix3 D = Matrix3::Identity();  // δφ⁺ = D dt δw
  };
  [[nodiscard]] std::span<const Turning> turning() const { return turning_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const Data& data() const { return data_; }
  [[nodiscard]] double time_step() const { return time_step_; }

 private:
  const Model& model_;
  const CoordinateUnits& units_;
  Data data_;
  BodyVelocities velocities_;
  std::vector<int> dofs_;
  std::vector<int> places_;
  std::vector<Turning> turning_;
  double time_step_ = 0.0;
  VectorX q_;
  VectorX v_free_;
  VectorX step_;
  MatrixX M_;
  VectorX scratch_;
};

}  // namespace tangere
