#pragma once

/// The report of `tangere inspect` about a scene: for people and for machines.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/io/scene_file.hpp"

namespace tangere::cli {

/// Dynamics of a model at a state.
struct Evaluation {
  VectorX q;
  VectorX v;
  std::vector<Pose> poses;
  Vector3 center_of_mass;
  double kinetic;
  double potential;
  MatrixX M;
  VectorX bias;
  /// Forces of springs and dampers, which the bias has with the other sign.
  VectorX passive;
};

/// Tables: bodies, joints, shapes, actuators, and all notices.
[[nodiscard]] std::string scene_text(const Scene& scene, const std::optional<Evaluation>& state);

/// One JSON object with everything that the model knows (docs/robots.md has the fields).
[[nodiscard]] std::string scene_json(const Scene& scene, const std::optional<Evaluation>& state);

[[nodiscard]] std::string_view to_string(Actuator::Kind kind);
[[nodiscard]] std::string_view to_string(LoopConstraint::Kind kind);

/// `world` for those without a parent, or without a partner in a constraint.
[[nodiscard]] std::string body_name(const Model& model, int body);

}  // namespace tangere::cli
