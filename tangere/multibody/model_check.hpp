#pragma once

/// Checks of a ModelBuilder (not installed). Each throws ModelError naming the thing, or InputError.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tangere/multibody/model.hpp"
#include "tangere/multibody/model_error.hpp"

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
/// The error of require_movable: it has the joint's index, so that a reader can mend it.
class ImmovableJoint : public ModelError {
 public:
  ImmovableJoint(int joint, std::string name, std::string reason)
      : ModelError(Part::joint, std::move(name), "", std::move(reason)), joint_(joint) {}
  [[nodiscard]] int joint() const { return joint_; }

 private:
  int joint_;
};
/// Throws ImmovableJoint unless every joint moves something that has inertia along it, so that the mass matrix is
/// positive at configurations in general.
void require_movable(const Model& model);

}  // namespace tangere
