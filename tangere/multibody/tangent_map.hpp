#pragma once

/// Between the tangent of a configuration and the numbers in it.

#include "tangere/multibody/data.hpp"

namespace tangere {

/// Between tangents (nv) and rates of the numbers in q (nq), for programs that know arrays only: T = d(q ⊕ δ)/dδ at 0,
/// and T⁺, its pseudo-inverse, which leaves out what would only change the length of a quaternion. A function of q that
/// normalises quaternions has the gradient T⁺ᵀ g in the numbers of q, if g is its gradient in the tangent.
enum class TangentMap {
  /// T δ: nv to nq.
  to_rates,
  /// T⁺ q̇: nq to nv.
  from_rates,
  /// Tᵀ g: nq to nv.
  gradient_to_tangent,
  /// T⁺ᵀ g: nv to nq.
  gradient_from_tangent,
};
/// Quaternions of any length but 0 (InputError); T is that of the normalised one, T⁺ of the one as it is.
void map_tangent(const Model& model, VectorArgument q, TangentMap map, VectorArgument in, Eigen::Ref<VectorX> out);
/// Every quaternion at length 1; InputError for one of length 0.
void normalize(const Model& model, Eigen::Ref<VectorX> q);

}  // namespace tangere
