#pragma once

/// Models for the laws of multibody: one for every joint type, and chains, trees and floating robots made of all of
/// them. A new joint type gets every test by being listed.

#include <string>
#include <vector>

#include "tangere/math/random.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere::test {

struct NamedModel {
  std::string name;
  Model model;
};

[[nodiscard]] const std::vector<NamedModel>& all_models();
/// Every joint type, fixed included.
[[nodiscard]] const std::vector<JointType>& all_joint_types();

/// A body with random physical inertia.
[[nodiscard]] BodySpec random_body(const std::string& name, Random& random);
/// A joint with random placement, axes, damping, armature and (where it may have one) spring.
[[nodiscard]] JointSpec random_joint(JointType type, const std::string& name, Random& random);
/// n chains of revolute joints, like a robot: for sizes.
[[nodiscard]] Model random_chain(int num_bodies, std::uint64_t seed);

[[nodiscard]] VectorX random_vector(int n, Random& random);
/// One wrench a body.
[[nodiscard]] std::vector<Vector6> random_wrenches(const Model& model, Random& random);

template <class Info>
std::string model_test_name(const Info& info) {
  return info.param.name;
}

}  // namespace tangere::test
