#include "tangere/contact/scene/collision_scene.hpp"

#include <cmath>
#include <limits>

#include "tangere/geometry/bounds.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double reach_of(const CollisionShape& shape) {
  const Aabb box = bounds(shape.shape, shape.X_BS);
  const Vector3 farthest = box.lower.cwiseAbs().cwiseMax(box.upper.cwiseAbs());
  return farthest.allFinite() ? farthest.norm() : kInfinity;
}

}  // namespace

CollisionScene::CollisionScene(const Model& model) {
  for (int b = 0; b < model.num_bodies(); ++b) {
    const std::vector<CollisionShape>& shapes = model.body(b).spec.shapes;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const double reach = reach_of(shapes[i]);
      if (!std::isfinite(reach) && !way_of(model, b).empty())
        throw InputError(model.body(b).spec.name, "has a half-space and moves: half-spaces are for fixed bodies");
      shapes_.push_back({b, static_cast<int>(i), reach});
    }
  }
}

}  // namespace tangere
