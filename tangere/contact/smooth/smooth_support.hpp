#pragma once

/// Checks for features that smooth contact does not support.

#include "tangere/contact/options.hpp"

namespace tangere {

/// InputError for rolling friction.
void require_smooth_support(const ContactOptions& options);

}  // namespace tangere
