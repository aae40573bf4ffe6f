#pragma once

/// Queries of two shapes without a workspace, for when there are few of them:
///
///   ScalingAnswer r = scaling(capsule, X_WA, crate, X_WB);
///   Vector12 g = gradient(r);
///   DistanceAnswer d = distance(capsule, X_WA, crate, X_WB);
///   Manifold contacts = manifold(capsule, X_WA, crate, X_WB, {.derivatives = true});
///
/// An answer is a value that owns what its derivatives need: shapes and poses may be temporaries, and derivatives may
/// be asked for in any thread. They ask the query again, so loops are better off with workspaces (scaling.hpp, …).

#include <memory>

#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/manifold.hpp"
#include "tangere/proximity/proximity_derivatives.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere {

/// A query as it was asked.
template <class Options>
struct PairQuery {
  Shape A;
  Pose X_WA;
  Shape B;
  Pose X_WB;
  Options options;
};

struct ScalingAnswer : Scaling {
  std::shared_ptr<const PairQuery<ScalingOptions>> query;
};
struct DistanceAnswer : Distance {
  std::shared_ptr<const PairQuery<DistanceOptions>> query;
};
struct ProximityAnswer : Proximity {
  std::shared_ptr<const PairQuery<ProximityOptions>> query;
};

[[nodiscard]] ScalingAnswer scaling(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                    const ScalingOptions& options = {});
[[nodiscard]] DistanceAnswer distance(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                      const DistanceOptions& options = {});
[[nodiscard]] ProximityAnswer proximity(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                        const ProximityOptions& options = {});
/// With its Jacobians if they are asked for.
[[nodiscard]] Manifold manifold(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                const ManifoldOptions& options = {});

/// d(value) / d(pose of A, pose of B).
[[nodiscard]] Vector12 gradient(const ScalingAnswer& answer);
[[nodiscard]] Vector12 gradient(const DistanceAnswer& answer);
[[nodiscard]] Vector12 gradient(const ProximityAnswer& answer);

/// d(points, …) / d(poses).
[[nodiscard]] ScalingJacobian jacobian(const ScalingAnswer& answer);
[[nodiscard]] DistanceJacobian jacobian(const DistanceAnswer& answer);
[[nodiscard]] ProximityJacobian jacobian(const ProximityAnswer& answer);

/// d(value) / d(parameters of each shape), in the order of Shape::parameters.
struct PairParameterGradient {
  VectorX A;
  VectorX B;
};
[[nodiscard]] PairParameterGradient parameter_gradient(const ScalingAnswer& answer);
[[nodiscard]] PairParameterGradient parameter_gradient(const DistanceAnswer& answer);
[[nodiscard]] PairParameterGradient parameter_gradient(const ProximityAnswer& answer);

}  // namespace tangere
