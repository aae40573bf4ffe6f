#pragma once

/// One pair of convex parts in a manifold query. Private to the manifold.

#include "tangere/proximity/manifold_patch.hpp"

namespace tangere::detail {

struct ManifoldQuery {
  /// All is computed about this point, so that the place in the world does not cost precision.
  Vector3 origin;
  ManifoldBody A;
  ManifoldBody B;
  Distance nearest;
  const ManifoldOptions& options;
  /// Lengths are small relative to this: the smaller outer radius.
  double size;
  /// In use: that of the options, or a tighter one.
  double angular_tolerance;
  /// What the parts show along the normal, and the patch under trial.
  Feature feature_A;
  Feature feature_B;
  Patch patch;
};

/// The manifold, about the query's origin (manifold_search.cpp).
void find_manifold(ManifoldQuery& query, Manifold& manifold);

/// The query's patch as contact points: those within the margin, at most as many as wanted, in the order of their
/// features. False: none, or not the contact that the distance speaks of (manifold_points.cpp).
[[nodiscard]] bool take_patch(const ManifoldQuery& query, bool reference_is_A, Manifold& manifold);

/// The one point where the parts meet. False: no pair of features is the contact.
[[nodiscard]] bool take_single(const ManifoldQuery& query, Manifold& manifold);

/// What the distance says, without derivatives.
void take_nearest(const ManifoldQuery& query, Manifold& manifold);

}  // namespace tangere::detail
