#pragma once

/// Contents of a Workspace: a method for each formulation that its steps were made by.

#include <cstdint>
#include <memory>
#include <vector>

#include "tangere/sim/internal/contact_method.hpp"
#include "tangere/sim/internal/hard_contact.hpp"
#include "tangere/sim/internal/smooth_contact.hpp"
#include "tangere/sim/tape/warm_start.hpp"

namespace tangere {

struct Workspace::Memory {
  explicit Memory(const World& world);

  /// The method of a world, made when it is first asked for; it starts from the last step of a world of the same parts.
  /// InputError for a world of another model.
  [[nodiscard]] ContactMethod& method_of(const World& world);
  [[nodiscard]] HardContactMethod& hard_of(const World& world);
  void forget();

  /// The links of its model.
  std::shared_ptr<const Links> links;
  std::unique_ptr<HardContactMethod> hard;
  /// The last one used first, each for a world of its own.
  std::vector<std::unique_ptr<SmoothContactMethod>> smooth;
  /// The method of the last step; and the start of methods that are not there yet.
  ContactMethod* last = nullptr;
  WarmStart::Data start_of_others;
  bool profiling = false;

  /// The state that a step begins with, which may be where it ends.
  State start;
  /// Memory of linearized_step.
  Tape own_tape;
  StepJacobians own_jacobians;

 private:
  [[nodiscard]] SmoothContactMethod& smooth_of(const World& world);
};

}  // namespace tangere
