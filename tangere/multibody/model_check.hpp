#pragma once

/// Checks of a ModelBuilder (not installed). Each throws InputError naming the thing.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

void verify(const BodySpec& body);
void verify(const JointSpec& joint);
/// They are listed: two large sets of bodies on both sides of one joint would be too many.
inline constexpr std::size_t kMaxNeighbourPairs = 1000000;
/// Throws InputError if there are more than kMaxNeighbourPairs.
void require_few_neighbours(std::size_t pairs);
/// Pairs of bodies (first < second) on both sides of a joint or of a loop constraint: parent and child, and what fixed
/// joints hold to them; only the two themselves where one is fixed to the world. Bodies without shapes count only as
/// parent and child. None over free joints.
[[nodiscard]] std::vector<std::pair<int, int>> neighbour_pairs(std::span<const Body> bodies,
                                                               std::span<const JointSpec> joints,
                                                               std::span<const LoopConstraint> constraints);
/// Resolves the sources of mimics.
void connect_mimics(std::vector<Joint>& joints);
/// The error of require_movable: it names the joint, so that a reader can mend it.
class ImmovableJoint : public InputError {
 public:
  ImmovableJoint(int joint, std::string field, std::string reason)
      : InputError(std::move(field), std::move(reason)), joint_(joint) {}
  [[nodiscard]] int joint() const { return joint_; }

 private:
  int joint_;
};
/// Throws ImmovableJoint unless every joint moves something that has inertia along it, so that the mass matrix is
/// positive at configurations in general.
void require_movable(const Model& model);

}  // namespace tangere
