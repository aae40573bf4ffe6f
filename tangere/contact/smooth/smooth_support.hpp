#pragma once

/// What smooth contact has no place for.

#include "tangere/contact/options.hpp"

namespace tangere {

/// InputError for rolling friction.
void require_smooth_support(const ContactOptions& options);

}  // namespace tangere
