#pragma once

/// What smooth contact has no place for.

#include "tangere/contact/options.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

/// InputError for loop constraints and mimics that are enabled.
void require_smooth_support(const Model& model, const ContactOptions& options);

}  // namespace tangere
