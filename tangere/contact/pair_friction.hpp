#pragma once

/// The friction of a pair of shapes: its own if the options name it, else the smaller of the two coefficients.

#include "tangere/contact/options.hpp"
#include "tangere/contact/scene/collision_scene.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

/// Two shapes of a scene.
struct ShapePair {
  int A = 0;
  int B = 0;
};

/// Whether the options name a coefficient of the pair, which then is `friction`.
[[nodiscard]] bool has_own_friction(const ContactOptions& options, const ShapePair& pair, double& friction);
[[nodiscard]] double friction_of(const Model& model, const CollisionScene& scene, const ContactOptions& options,
                                 const ShapePair& pair);
/// d(friction of the pair) / d(friction of one of its shapes): 1 for the smaller coefficient, 0 for the larger one, ½
/// each where they are equal, which is the mean of its two sides.
[[nodiscard]] double friction_share(const Model& model, const CollisionScene& scene, const ContactOptions& options,
                                    const ShapePair& pair, int shape);

}  // namespace tangere
