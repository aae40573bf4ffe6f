#include "apps/cli/start_overlaps.hpp"

#include <algorithm>

#include "tangere/geometry/bounds.hpp"

namespace tangere::cli {
namespace {

/// Of the smaller shape's size.
constexpr double kDeep = 0.01;

/// The longest edge of the shape's box; infinite for half-spaces.
double size_of(const World& world, int shape) {
  const CollisionShape& placed = world.scene().shape(world.model(), shape);
  const Aabb box = bounds(placed.shape, placed.X_BS);
  return (box.upper - box.lower).maxCoeff();
}

}  // namespace

std::vector<StartOverlap> start_overlaps(const World& world, std::span<const Contact> contacts) {
  std::vector<StartOverlap> overlaps;
  for (const Contact& contact : contacts) {
    const double size = std::min(size_of(world, contact.shape_A), size_of(world, contact.shape_B));
    if (-contact.distance <= kDeep * size) continue;
    const auto known = std::find_if(overlaps.begin(), overlaps.end(), [&](const StartOverlap& one) {
      return one.body_A == contact.body_A && one.body_B == contact.body_B;
    });
    if (known == overlaps.end()) {
      overlaps.push_back({contact.body_A, contact.body_B, -contact.distance});
    } else {
      known->depth = std::max(known->depth, -contact.distance);
    }
  }
  return overlaps;
}

}  // namespace tangere::cli
