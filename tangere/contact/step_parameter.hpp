#pragma once

/// A parameter of a step: of the model, or of a shape.

#include "tangere/multibody/parameters.hpp"

namespace tangere {

struct StepParameter {
  enum class Kind { model, friction, pair_friction, restitution, shape_placement, shape_size };

  Kind kind = Kind::model;
  /// Kind::model.
  Parameter model{};
  /// The others: index into the scene's shapes, and of x y z rx ry rz or of the shape's own parameters.
  int shape = 0;
  int component = 0;
  /// Kind::pair_friction: the second shape.
  int other_shape = 0;

  bool operator==(const StepParameter&) const = default;
};

}  // namespace tangere
