#pragma once

/// What a ModelBuilder refuses (private to multibody). Each throws InputError naming the thing.

#include <vector>

#include "tangere/multibody/model.hpp"

namespace tangere {

void verify(const BodySpec& body);
void verify(const JointSpec& joint);
/// Resolves the sources of mimics.
void connect_mimics(std::vector<Joint>& joints);
/// Every joint moves something that has inertia along it, so that the mass matrix is positive at configurations in
/// general.
void require_movable(const Model& model);

}  // namespace tangere
