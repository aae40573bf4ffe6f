#pragma once

/// Costs: ½ Σ weight r², summed over their knots, of a residual r whose Jacobian gives the Gauss-Newton Hessian. With
/// `per_second`, times the knot's time step.

#include <functional>

#include "tangere/trajopt/knot.hpp"

namespace tangere {

/// r = x ⊖ target.
struct StateCost {
  std::string name = "state";
  /// A state; one per column of `path` where that is given (nx x knots).
  VectorX target{};
  MatrixX path = {};
  /// ndx entries, or one for all.
  VectorX weight{};
  Knots knots = Knots::all();
  bool per_second = false;
};

/// r = u - target.
struct ControlCost {
  std::string name = "control";
  /// Zero if empty.
  VectorX target = {};
  /// nu entries, or one for all.
  VectorX weight{};
  Knots knots = Knots::with_control();
  bool per_second = false;
};

/// r = [R_WTᵀ (p - p_T); log(R_WTᵀ R)], of a frame F of a body: X_WF = X_WB X_BF.
struct FrameCost {
  std::string name = "frame";
  std::string body{};
  Pose X_BF = {};
  Pose target = {};
  /// Translation and rotation.
  Vector6 weight = Vector6::Ones();
  Knots knots = Knots::all();
  bool per_second = false;
};

/// r = centre of all mass - target.
struct CenterOfMassCost {
  std::string name = "center of mass";
  Vector3 target = Vector3::Zero();
  Vector3 weight = Vector3::Ones();
  Knots knots = Knots::all();
  bool per_second = false;
};

/// A vector of the user's own. `value` has `size` entries; `J` may be null and is zero before.
using KnotVector = std::function<void(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J)>;

struct ResidualCost {
  std::string name = "residual";
  int size = 1;
  KnotVector residual{};
  /// `size` entries, or one for all.
  VectorX weight = VectorX::Ones(1);
  Knots knots = Knots::all();
  bool per_second = false;
};

}  // namespace tangere
