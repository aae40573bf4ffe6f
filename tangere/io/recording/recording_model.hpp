#pragma once

/// Models in recordings: everything of them that does not change, and a state as a frame.

#include <span>

#include "tangere/contact/contact.hpp"
#include "tangere/io/recording/recording_data.hpp"
#include "tangere/multibody/data.hpp"

namespace tangere {

/// Name, bodies, shapes, links and coordinates; no frames, no channels.
[[nodiscard]] Recording describe_model(const Model& model);

/// Whether the numbers of a shape are all that a program needs to draw it; others come with a mesh.
[[nodiscard]] bool draws_itself(const Shape& shape);

/// How a shape is drawn: itself, or its parts if it is a bundle, with a mesh where its numbers are not enough. `base`
/// has everything but shape and mesh.
void add_shape(Recording& recording, const RecordedShape& base, const Shape& shape);

/// The poses at q; `data` is scratch.
[[nodiscard]] std::vector<RecordedPose> poses_at(const Model& model, Data& data, VectorArgument q);

[[nodiscard]] RecordedContact recorded_contact(const Contact& contact);

}  // namespace tangere
