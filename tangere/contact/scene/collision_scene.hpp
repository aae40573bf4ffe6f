#pragma once

/// All shapes of a model that may collide.

#include <span>
#include <vector>

#include "tangere/multibody/model.hpp"

namespace tangere {

/// A shape of a body, by its index there.
struct SceneShape {
  int body = 0;
  int index = 0;
  /// Around the body's origin; infinite for half-spaces.
  double reach = 0.0;
};

/// Constant once made: which shapes there are. Throws InputError for bodies that move and have a half-space.
class CollisionScene {
 public:
  explicit CollisionScene(const Model& model);

  [[nodiscard]] std::span<const SceneShape> shapes() const { return shapes_; }
  [[nodiscard]] const CollisionShape& shape(const Model& model, int i) const {
    const SceneShape& at = shapes_[i];
    return model.body(at.body).spec.shapes[at.index];
  }

 private:
  std::vector<SceneShape> shapes_;
};

}  // namespace tangere
