#pragma once

/// The contact of two shapes that meet in one point. Private to the manifold.

#include "tangere/proximity/manifold/internal/manifold_stationary.hpp"

namespace tangere::internal {

struct SingleContact {
  bool found = false;
  StationarySide side_A;
  StationarySide side_B;
  Stationary solution;
  ContactFeature feature_A;
  ContactFeature feature_B;
  double roundness_A = 0.0;
  double roundness_B = 0.0;
};

/// Tries the lines and corners of both features, lines first, until one pair's stationary point is the contact: within
/// both lines, and on the support planes of both shapes. `n` is near the normal.
void find_single_contact(const ManifoldBody& A, const Feature& feature_A, const ManifoldBody& B,
                         const Feature& feature_B, const Vector3& n, double size, SingleContact& contact);

}  // namespace tangere::internal
