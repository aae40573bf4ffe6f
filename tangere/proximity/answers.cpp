#include "tangere/proximity/answers.hpp"

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// The workspace of this thread in which the query of an answer is asked again.
template <class Workspace, class Answer, class Ask>
Workspace& ask_again(const Answer& answer, const Ask& ask) {
  if (answer.query == nullptr) throw InputError("answer", "is of no query: it was not made by one");
  thread_local Workspace workspace;
  ask(*answer.query, workspace);
  return workspace;
}

template <class Options>
std::shared_ptr<const PairQuery<Options>> asked(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                                const Options& options) {
  return std::make_shared<const PairQuery<Options>>(
      PairQuery<Options>{.A = A, .X_WA = X_WA, .B = B, .X_WB = X_WB, .options = options});
}

ScalingWorkspace& again(const ScalingAnswer& answer) {
  return ask_again<ScalingWorkspace>(answer, [](const PairQuery<ScalingOptions>& q, ScalingWorkspace& workspace) {
    (void)scaling(q.A, q.X_WA, q.B, q.X_WB, q.options, workspace);
  });
}

DistanceWorkspace& again(const DistanceAnswer& answer) {
  return ask_again<DistanceWorkspace>(answer, [](const PairQuery<DistanceOptions>& q, DistanceWorkspace& workspace) {
    (void)distance(q.A, q.X_WA, q.B, q.X_WB, q.options, workspace);
  });
}

ProximityWorkspace& again(const ProximityAnswer& answer) {
  return ask_again<ProximityWorkspace>(answer, [](const PairQuery<ProximityOptions>& q, ProximityWorkspace& workspace) {
    (void)proximity(q.A, q.X_WA, q.B, q.X_WB, q.options, workspace);
  });
}

}  // namespace

ScalingAnswer scaling(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                      const ScalingOptions& options) {
  thread_local ScalingWorkspace workspace;
  return {scaling(A, X_WA, B, X_WB, options, workspace), asked(A, X_WA, B, X_WB, options)};
}

Vector12 gradient(const ScalingAnswer& answer) { return scaling_gradient(again(answer)); }

ScalingJacobian jacobian(const ScalingAnswer& answer) { return scaling_jacobian(again(answer)); }

PairParameterGradient parameter_gradient(const ScalingAnswer& answer) {
  PairParameterGradient out;
  scaling_parameter_gradient(again(answer), out.A, out.B);
  return out;
}

DistanceAnswer distance(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                        const DistanceOptions& options) {
  thread_local DistanceWorkspace workspace;
  return {distance(A, X_WA, B, X_WB, options, workspace), asked(A, X_WA, B, X_WB, options)};
}

Vector12 gradient(const DistanceAnswer& answer) { return distance_gradient(again(answer)); }

DistanceJacobian jacobian(const DistanceAnswer& answer) { return distance_jacobian(again(answer)); }

PairParameterGradient parameter_gradient(const DistanceAnswer& answer) {
  PairParameterGradient out;
  distance_parameter_gradient(again(answer), out.A, out.B);
  return out;
}

ProximityAnswer proximity(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                          const ProximityOptions& options) {
  thread_local ProximityWorkspace workspace;
  return {proximity(A, X_WA, B, X_WB, options, workspace), asked(A, X_WA, B, X_WB, options)};
}

Vector12 gradient(const ProximityAnswer& answer) { return proximity_gradient(again(answer)); }

ProximityJacobian jacobian(const ProximityAnswer& answer) { return proximity_jacobian(again(answer)); }

PairParameterGradient parameter_gradient(const ProximityAnswer& answer) {
  PairParameterGradient out;
  proximity_parameter_gradient(again(answer), out.A, out.B);
  return out;
}

Manifold manifold(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const ManifoldOptions& options) {
  thread_local ManifoldWorkspace workspace;
  return manifold(A, X_WA, B, X_WB, options, workspace);
}

}  // namespace tangere
