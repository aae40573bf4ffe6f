#pragma once

/// Steps with smooth contact, and their derivatives (private to sim; step.hpp and step_derivatives.hpp come here).
///
/// v⁺ from the single-level problem, then q' = q ⊕ d: d = dt v⁺, but quaternions move by the Cayley map, and lone
/// bodies so that they keep their momentum (lone_body.hpp). A step that no start of the ladder solves is made in two
/// halves.

#include <cstdint>
#include <memory>
#include <vector>

#include "tangere/contact/smooth/single_level.hpp"
#include "tangere/contact/smooth/single_level_derivatives.hpp"
#include "tangere/sim/internal/workspace_memory.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"

namespace tangere {

struct SmoothMemory {
  explicit SmoothMemory(const World& world);

  /// Its world: World::number, parts_number, and the options.
  std::uint64_t world_number;
  std::uint64_t parts_number;
  WorldOptions options;
  SingleLevelContact contact;
  SingleLevelDerivatives derivatives;
  /// For half steps; made when first needed.
  std::unique_ptr<World> half_world;
  std::unique_ptr<Workspace> half_workspace;
  /// Of a step that is itself a half.
  bool is_half = false;
  State half_state;
  std::vector<Contact> half_contacts;
  /// State of the tape whose derivatives are asked for.
  State taped;
  StepJacobians half_jacobians[2];
  StepParameterJacobians half_parameters;
  StateTangent half_tangent;
  VectorX half_u;
  std::vector<SmoothParameter> parameters;
  /// For derivatives at another relaxation; made when first needed.
  std::unique_ptr<World> gradient_world;
  std::unique_ptr<Workspace> gradient_workspace;
  State gradient_state;
  Tape gradient_tape;
};

/// Whether steps of this world are smooth. `m` then has memory of it: one that it has, or else a new one. It starts
/// from the last step of a world of the same parts, and cold after one of others.
[[nodiscard]] bool is_smooth(const World& world, Workspace::Memory& m);

/// False where the numbers run away before the end of the step, or where it gives up (StepStatus::gave_up). `next` is
/// not `state`.
bool smooth_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m, State& next,
                 Tape* tape, StepEffort effort);

[[nodiscard]] GradientQuality smooth_jacobians(const World& world, const Tape& tape, Workspace::Memory& m,
                                               StepJacobians& out);
[[nodiscard]] GradientQuality smooth_vjp(const World& world, const Tape& tape, Workspace::Memory& m,
                                         const StateTangent& g, StateTangent& g_state, VectorX& g_u);
[[nodiscard]] GradientQuality smooth_jvp(const World& world, const Tape& tape, Workspace::Memory& m,
                                         const StateTangent& d, VectorArgument du, StateTangent& d_next);
[[nodiscard]] GradientQuality smooth_parameter_jacobians(const World& world, const Tape& tape, Workspace::Memory& m,
                                                         std::span<const StepParameter> parameters,
                                                         StepParameterJacobians& out);

}  // namespace tangere
