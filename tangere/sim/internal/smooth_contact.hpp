#pragma once

/// Steps with smooth contact, and their derivatives.
///
/// v⁺ from the single-level problem, then q' = q ⊕ d: d = dt v⁺, but quaternions move by the Cayley map, and lone
/// bodies so that they keep their momentum (lone_body.hpp). A step that no start of the ladder solves is made in two
/// halves, and so are these; derivatives may be those of the step at another relaxation.

#include <cstdint>
#include <memory>
#include <vector>

#include "tangere/contact/smooth/single_level.hpp"
#include "tangere/contact/smooth/single_level_derivatives.hpp"
#include "tangere/sim/internal/contact_method.hpp"
#include "tangere/sim/internal/lone_body.hpp"
#include "tangere/sim/internal/step_scratch.hpp"

namespace tangere {

/// Settings in which the steps that one step is made of differ.
struct StepSettings {
  double time_step;
  double kappa;
  /// SmoothContact::smallest_part of this step.
  double smallest_part;
};

[[nodiscard]] inline SmoothState smooth_state(VectorArgument q, VectorArgument v, const StepScratch& m) {
  return {.q = q, .v = v, .tau = m.tau, .v_free = m.v_free, .implicit_inertia = m.implicit.inertia};
}
/// Free bodies know their own dynamics, and no actuator of theirs acts at the end of the step: forces, with the regions
/// of m.
void begin_free(const World& world, double dt, const State& state, VectorArgument u, StepScratch& m);

/// Memory of steps with the same settings.
struct SmoothLevel {
  SmoothLevel(const World& world, const StepSettings& settings);
  /// Memory of steps half as long, made when first needed.
  [[nodiscard]] SmoothLevel& half(const World& world);

  StepSettings settings;
  SingleLevelContact contact;
  SingleLevelDerivatives derivatives;
  /// State of the tape whose derivatives are asked for.
  State taped;

  // of steps in halves
  State between;
  std::vector<Contact> contacts;
  StepJacobians jacobians[2];
  StepParameterJacobians parameters;
  StateTangent tangent;
  VectorX g_u;

 private:
  std::unique_ptr<SmoothLevel> half_;
};

class SmoothContactMethod final : public ContactMethod {
 public:
  explicit SmoothContactMethod(const World& world);

  /// Whether it was last used for this very world; for one of the same parts; and for one of the same parts and
  /// options.
  [[nodiscard]] bool is_of(const World& world) const { return world_number_ == world.number(); }
  [[nodiscard]] bool has_parts_of(const World& world) const { return parts_number_ == world.parts_number(); }
  [[nodiscard]] bool fits(const World& world) const { return has_parts_of(world) && options_ == world.options(); }
  void use_for(const World& world) { world_number_ = world.number(); }

  [[nodiscard]] bool solve(const World& world, const State& state, VectorArgument u, StepEffort effort, State& next,
                           Tape* tape) override;
  [[nodiscard]] StepResult& result() override { return m_.result; }
  void set_profiling(bool on) override { m_.profiling = on; }
  [[nodiscard]] GradientQuality jacobians(const World& world, const Tape& tape, GradientMode mode,
                                          const StateTangent* loss, StepJacobians& out) override;
  [[nodiscard]] GradientQuality vjp(const World& world, const Tape& tape, GradientMode mode, const StateTangent& g,
                                    StateTangent& g_state, VectorX& g_u) override;
  [[nodiscard]] GradientQuality jvp(const World& world, const Tape& tape, const StateTangent& d, VectorArgument du,
                                    StateTangent& d_next) override;
  [[nodiscard]] GradientQuality parameter_jacobians(const World& world, const Tape& tape,
                                                    std::span<const StepParameter> parameters,
                                                    StepParameterJacobians& out) override;
  void forget() override { whole_.contact.warm_start().clear(); }
  void save(WarmStart::Data& to) const override;
  void restore(const WarmStart::Data& from) override;
  void start_from(const Tape& tape) override;

 private:
  // one step, or one half of another
  [[nodiscard]] bool make(SmoothLevel& level, const World& world, const State& state, VectorArgument u,
                          StepEffort effort, State& next, Tape* tape, StepResult& result);
  [[nodiscard]] bool make_halves(SmoothLevel& level, const World& world, const State& state, VectorArgument u,
                                 State& next, Tape* tape, StepResult& result);
  void begin(SmoothLevel& level, const World& world, const State& state, VectorArgument u);
  void begin_derivatives(SmoothLevel& level, const World& world, const Tape& tape, bool afresh);
  [[nodiscard]] GradientQuality part_jacobians(SmoothLevel& level, const World& world, const Tape& tape,
                                               StepJacobians& out);
  [[nodiscard]] GradientQuality part_vjp(SmoothLevel& level, const World& world, const Tape& tape,
                                         const StateTangent& g, StateTangent& g_state, VectorX& g_u);
  [[nodiscard]] GradientQuality part_parameters(SmoothLevel& level, const World& world, const Tape& tape,
                                                std::span<const StepParameter> parameters, StepParameterJacobians& out);

  /// The step at which derivatives are taken: the tape's, or the same at SmoothContact::gradient_kappa.
  struct GradientStep {
    SmoothLevel& level;
    const Tape& tape;
    GradientQuality quality;
  };
  [[nodiscard]] GradientStep gradient_step(const World& world, const Tape& tape);

  std::uint64_t world_number_;
  std::uint64_t parts_number_;
  WorldOptions options_;
  StepScratch m_;
  /// Steps of the level have left poses and factors in m_; null where something else has.
  const SmoothLevel* data_of_ = nullptr;
  SmoothLevel whole_;
  // at gradient_kappa; made when first needed
  std::unique_ptr<SmoothLevel> relaxed_;
  Tape relaxed_tape_;
  State relaxed_state_;
  StepResult relaxed_result_;
  // of parameters
  MatrixX ways_;
  MomentColumns moments_;
};

}  // namespace tangere
