#pragma once

/// A formulation of contact, as a workspace has it: the two functions of a step, solve and differentiate, and the start
/// of the next one. Each has the memory it works in.

#include <span>

#include "tangere/sim/step.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"

namespace tangere {

class ContactMethod {
 public:
  ContactMethod() = default;
  ContactMethod(const ContactMethod&) = delete;
  ContactMethod& operator=(const ContactMethod&) = delete;
  virtual ~ContactMethod() = default;

  /// The state after a step, and the report of it in result(). False where there is none: the numbers run away, or the
  /// effort is not enough (StepStatus::gave_up). `next` is not `state`.
  [[nodiscard]] virtual bool solve(const World& world, const State& state, VectorArgument u, StepEffort effort,
                                   State& next, Tape* tape) = 0;
  [[nodiscard]] virtual StepResult& result() = 0;
  virtual void set_profiling(bool on) = 0;

  // derivatives of a step that it has made, or another one like it; modes that it does not know are refused

  [[nodiscard]] virtual GradientQuality jacobians(const World& world, const Tape& tape, GradientMode mode,
                                                  const StateTangent* loss, StepJacobians& out) = 0;
  [[nodiscard]] virtual GradientQuality vjp(const World& world, const Tape& tape, GradientMode mode,
                                            const StateTangent& g, StateTangent& g_state, VectorX& g_u) = 0;
  [[nodiscard]] virtual GradientQuality jvp(const World& world, const Tape& tape, const StateTangent& d,
                                            VectorArgument du, StateTangent& d_next) = 0;
  [[nodiscard]] virtual GradientQuality parameter_jacobians(const World& world, const Tape& tape,
                                                            std::span<const StepParameter> parameters,
                                                            StepParameterJacobians& out) = 0;

  // the start of the next step

  virtual void forget() = 0;
  virtual void save(WarmStart::Data& to) const = 0;
  virtual void restore(const WarmStart::Data& from) = 0;
  /// From the contact of a step that was made.
  virtual void start_from(const Tape& tape) = 0;
};

}  // namespace tangere
