#include "tangere/contact/pair_friction.hpp"

#include <algorithm>

namespace tangere {

bool has_own_friction(const ContactOptions& options, const ShapePair& pair, double& friction) {
  for (const PairFriction& own : options.pair_friction)
    if ((own.shape_A == pair.A && own.shape_B == pair.B) || (own.shape_A == pair.B && own.shape_B == pair.A)) {
      friction = own.friction;
      return true;
    }
  return false;
}

double friction_of(const Model& model, const CollisionScene& scene, const ContactOptions& options,
                   const ShapePair& pair) {
  double friction = 0.0;
  if (has_own_friction(options, pair, friction)) return friction;
  return std::min(scene.shape(model, pair.A).friction, scene.shape(model, pair.B).friction);
}

double friction_share(const Model& model, const CollisionScene& scene, const ContactOptions& options,
                      const ShapePair& pair, int shape) {
  double friction = 0.0;
  if ((shape != pair.A && shape != pair.B) || has_own_friction(options, pair, friction)) return 0.0;
  const double own = scene.shape(model, shape).friction;
  const double other = scene.shape(model, shape == pair.A ? pair.B : pair.A).friction;
  if (own == other) return 0.5;
  return own < other ? 1.0 : 0.0;
}

}  // namespace tangere
