#include "apps/cli/start_overlaps.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tangere/geometry/bounds.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/distance.hpp"

namespace tangere::cli {
namespace {

/// Parts of the smaller shape's size.
constexpr double kDeep = 0.01;

/// The longest edge of the shape's box; infinite for half-spaces.
double size_of(const World& world, int shape) {
  const CollisionShape& placed = world.scene().shape(world.model(), shape);
  const Aabb box = bounds(placed.shape, placed.X_BS);
  return (box.upper - box.lower).maxCoeff();
}

}  // namespace

std::vector<StartOverlap> start_overlaps(const World& world, const VectorX& q, std::span<const Contact> contacts) {
  std::vector<StartOverlap> overlaps;
  Data data(world.model());
  forward_kinematics(world.model(), data, q);
  const auto pose_of = [&](int shape, int body) {
    return body_pose(world.model(), data, body) * world.scene().shape(world.model(), shape).X_BS;
  };
  DistanceWorkspace workspace;
  std::set<std::pair<int, int>> seen;
  for (const Contact& contact : contacts) {
    if (!seen.emplace(contact.shape_A, contact.shape_B).second) continue;
    const double size = std::min(size_of(world, contact.shape_A), size_of(world, contact.shape_B));
    // those of contacts are not depths where contact is smooth
    const double depth =
        -distance(world.scene().shape(world.model(), contact.shape_A).shape, pose_of(contact.shape_A, contact.body_A),
                  world.scene().shape(world.model(), contact.shape_B).shape, pose_of(contact.shape_B, contact.body_B),
                  {}, workspace)
             .distance;
    if (depth <= kDeep * size) continue;
    const auto known = std::find_if(overlaps.begin(), overlaps.end(), [&](const StartOverlap& one) {
      return one.body_A == contact.body_A && one.body_B == contact.body_B;
    });
    if (known == overlaps.end()) {
      overlaps.push_back({contact.body_A, contact.body_B, depth});
    } else {
      known->depth = std::max(known->depth, depth);
    }
  }
  return overlaps;
}

}  // namespace tangere::cli
