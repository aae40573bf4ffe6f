#pragma once

/// Contents of a WarmStart.

#include "tangere/contact/hard/lcp.hpp"
#include "tangere/contact/smooth/smooth_warm_start.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

struct WarmStart::Data {
  LcpWarmStart hard;
  SmoothWarmStart smooth;
};

}  // namespace tangere
