#pragma once

/// Steps with hard contact, and their derivatives.

#include "tangere/sim/internal/contact_method.hpp"
#include "tangere/sim/internal/hard_memory.hpp"

namespace tangere {

class HardContactMethod final : public ContactMethod {
 public:
  explicit HardContactMethod(const World& world) : memory_(world) {}

  [[nodiscard]] bool solve(const World& world, const State& state, VectorArgument u, StepEffort effort, State& next,
                           Tape* tape) override;
  [[nodiscard]] StepResult& result() override { return memory_.result; }
  void set_profiling(bool on) override { memory_.profiling = on; }
  [[nodiscard]] GradientQuality jacobians(const World& world, const Tape& tape, GradientMode mode,
                                          const StateTangent* loss, StepJacobians& out) override {
    return hard_jacobians(world, tape, memory_, mode, loss, out);
  }
  [[nodiscard]] GradientQuality vjp(const World& world, const Tape& tape, GradientMode mode, const StateTangent& g,
                                    StateTangent& g_state, VectorX& g_u) override {
    return hard_vjp(world, tape, memory_, mode, g, g_state, g_u);
  }
  [[nodiscard]] GradientQuality jvp(const World& world, const Tape& tape, const StateTangent& d, VectorArgument du,
                                    StateTangent& d_next) override {
    return hard_jvp(world, tape, memory_, d, du, d_next);
  }
  [[nodiscard]] GradientQuality parameter_jacobians(const World& world, const Tape& tape,
                                                    std::span<const StepParameter> parameters,
                                                    StepParameterJacobians& out) override {
    return hard_parameter_jacobians(world, tape, memory_, parameters, out);
  }
  void forget() override { memory_.lcp.warm_start().clear(); }
  void save(WarmStart::Data& to) const override;
  void restore(const WarmStart::Data& from) override;
  void start_from(const Tape& tape) override;

  [[nodiscard]] HardMemory& memory() { return memory_; }

 private:
  HardMemory memory_;
};

}  // namespace tangere
