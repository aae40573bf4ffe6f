#pragma once

/// Shapes that are to stay apart: one inequality per pair and knot, with the exact gradient of the engine's queries.
///
///   problem.add(KeepApart{.name = "obstacles",
///                         .movers = {{"car", Capsule{1.0, 2.5}, pose_of_car}},
///                         .obstacles = {fixed("bus", Capsule{1.5, 8.0}, Pose{})}});
///
/// Measured by the signed distance, h = margin - d in metres, or by the minimum scaling, h = (1 + margin - α) size with
/// half the shortest edge of both shapes' bounds as size: α has a gradient where centres lie deep in each other too.

#include <functional>
#include <string>
#include <vector>

#include "tangere/geometry/shape.hpp"
#include "tangere/trajopt/problem.hpp"

namespace tangere {

/// Pose of a shape at a knot: X_WB, and with `J` (6 x ndx, zero before) how it moves: translation in world axes,
/// rotation R exp(φ).
using PoseFunction = std::function<void(const Knot& knot, Pose& X_WB, Eigen::Ref<MatrixX>* J)>;

struct Collider {
  std::string name{};
  Shape shape;
  PoseFunction pose{};
};

/// A shape that does not move.
[[nodiscard]] Collider fixed(std::string name, Shape shape, const Pose& X_WB);
/// All shapes of a body of the dynamics' model. InputError if it has none.
[[nodiscard]] std::vector<Collider> colliders_of(const Dynamics& dynamics, const std::string& body);

struct KeepApart {
  enum class Metric { distance, scaling };
  std::string name = "keep apart";
  /// Every mover against every obstacle.
  std::vector<Collider> movers{};
  std::vector<Collider> obstacles{};
  Metric metric = Metric::scaling;
  double margin = 0.0;
  /// A start in an obstacle is answered with `infeasible` at knot 0.
  Knots knots = Knots::all();
  /// Whether they are to stay apart between the knots too (OptimizerOptions::between).
  bool between_knots = true;
};

/// Adds one inequality term per pair, named `name: mover, obstacle`.
void add(OptimalControl& problem, const KeepApart& constraint);

}  // namespace tangere
