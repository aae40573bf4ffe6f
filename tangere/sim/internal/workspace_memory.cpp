#include "tangere/sim/internal/workspace_memory.hpp"

#include <algorithm>
#include <string>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// Worlds by smooth contact that take turns in a workspace and are all remembered.
constexpr std::size_t kMostSmooth = 4;

}  // namespace

Workspace::Memory::Memory(const World& world) : links(world.model().shared_links()) { last = &method_of(world); }

ContactMethod& Workspace::Memory::method_of(const World& world) {
  if (world.model().shared_links() != links) throw InputError("workspace", "was made for another model");
  if (world.options().formulation == Formulation::lcp) return hard_of(world);
  return smooth_of(world);
}

HardContactMethod& Workspace::Memory::hard_of(const World& world) {
  if (world.options().formulation != Formulation::lcp)
    throw InputError("formulation", "this derivative is of the rows of hard contact: lcp only");
  if (hard == nullptr) {
    hard = std::make_unique<HardContactMethod>(world);
    hard->set_profiling(profiling);
    hard->restore(start_of_others);
  }
  return *hard;
}

void Workspace::Memory::forget() {
  start_of_others.hard.clear();
  start_of_others.smooth.clear();
  if (hard != nullptr) hard->forget();
  for (const auto& one : smooth) one->forget();
}

SmoothContactMethod& Workspace::Memory::smooth_of(const World& world) {
  if (!smooth.empty() && smooth.front()->is_of(world)) return *smooth.front();
  if (!smooth.empty() && !smooth.front()->has_parts_of(world)) {
    if (std::any_of(smooth.begin(), smooth.end(), [&](const auto& one) { return one.get() == last; })) last = nullptr;
    smooth.clear();
    start_of_others.smooth.clear();
  }
  const auto fits = [&](const std::unique_ptr<SmoothContactMethod>& one) { return one->fits(world); };
  if (!smooth.empty()) smooth.front()->save(start_of_others);
  auto found = std::find_if(smooth.begin(), smooth.end(), fits);
  if (found == smooth.end()) {
    if (smooth.size() == kMostSmooth) {
      if (smooth.back().get() == last) last = nullptr;
      smooth.pop_back();
    }
    found = smooth.insert(smooth.end(), std::make_unique<SmoothContactMethod>(world));
  }
  std::rotate(smooth.begin(), found, found + 1);
  SmoothContactMethod& taken = *smooth.front();
  taken.use_for(world);
  taken.set_profiling(profiling);
  taken.restore(start_of_others);
  return taken;
}

HardMemory& hard_memory(const World& world, Workspace& workspace) { return workspace.memory().hard_of(world).memory(); }

}  // namespace tangere
