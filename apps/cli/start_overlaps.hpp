#pragma once

/// Pairs of bodies that overlap where a run starts: mostly hulls of links that were drawn into each other, which a
/// simulation can only push apart or leave.

#include <span>
#include <vector>

#include "tangere/contact/contact.hpp"
#include "tangere/sim/world.hpp"

namespace tangere::cli {

struct StartOverlap {
  int body_A = kWorld;
  int body_B = kWorld;
  /// Metres, the deepest.
  double depth = 0.0;
};

/// Those that are deeper at q than a hundredth of the smaller shape's size, among the contacts of the first step; each
/// pair once.
[[nodiscard]] std::vector<StartOverlap> start_overlaps(const World& world, const VectorX& q,
                                                       std::span<const Contact> contacts);

}  // namespace tangere::cli
