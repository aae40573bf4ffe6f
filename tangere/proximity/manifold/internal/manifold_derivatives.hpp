#pragma once

/// How the points of a patch move with the poses. Private to the manifold.

#include "tangere/proximity/manifold/internal/manifold_patch.hpp"

namespace tangere::internal {

/// Rates of one point, in terms of reference and incident.
struct PatchJacobian {
  Matrix3x12 N;
  Matrix3x12 p_R;
  Matrix3x12 p_I;
  Vector12 distance;
  bool exists = true;
};

/// d(N) / d(poses): a face's turns with its body, that of two lines as their middle says. False if it does not exist.
[[nodiscard]] bool patch_normal_rate(const Patch& patch, double size, Matrix3x12& rate);

[[nodiscard]] PatchJacobian patch_jacobian(const Patch& patch, const PatchPoint& point, const Matrix3x12& N_rate);

}  // namespace tangere::internal
