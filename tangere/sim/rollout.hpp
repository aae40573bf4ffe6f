#pragma once

/// Many steps, and the gradient of a loss over them.
///
///   Rollout rollout(world, {.max_tapes = 100});
///   rollout.run(start, controls);                                    controls: nu x the number of steps
///   rollout.reverse(gradients, g_start, g_controls);                 one gradient a state, the start's first
///
/// All states are kept, and tapes only of as many steps as there is memory for: the reverse pass goes from checkpoint
/// to checkpoint, makes the steps of each stretch again (the same bits) and goes back over them.
///
/// A loss on impulses is summed up while steps are made, and its gradient is asked for on the way back, where there is
/// a tape of the step:
///
///   rollout.run(start, controls, [&](int step, const StepResult& result) { loss += …; });
///   rollout.reverse(gradients, g_start, g_controls, [&](int step, const Tape& tape, VectorX& g_impulses) { … });

#include <functional>
#include <span>
#include <vector>

#include "tangere/sim/impulse_derivatives.hpp"

namespace tangere {

struct RolloutOptions {
  /// Tapes held at once, at least 1. With at least as many as steps, no step is made twice.
  int max_tapes = 256;
  GradientMode gradient_mode = GradientMode::exact;
};

class Rollout {
 public:
  explicit Rollout(World world, const RolloutOptions& options = {});

  /// Sees every step as it is made.
  using StepObserver = std::function<void(int step, const StepResult& result)>;
  /// Steps from `start`, one per column of `controls`; always from a cold start. Throws InputError naming the column;
  /// after that, and after an exception of the observer, it holds nothing, as before its first run.
  void run(const State& start, const Eigen::Ref<const MatrixX>& controls, const StepObserver& observe = {});

  [[nodiscard]] int num_steps() const { return static_cast<int>(controls_.cols()); }
  /// num_steps() + 1, the start first; none before `run`.
  [[nodiscard]] std::span<const State> states() const { return states_; }
  /// Steps whose contact problem was solved only approximately.
  [[nodiscard]] int num_approximate() const { return num_approximate_; }

  /// From the loss's gradients with respect to every state (tangents; empty vectors count as zero) to those with
  /// respect to the start and to all controls. Answers with the worst quality of its steps.
  ///
  /// `impulse_gradient`, if there is one, adds to the loss's gradient with respect to the impulses of each step
  /// (impulse_derivatives.hpp), which is zero with num_impulses(tape) entries; last step first. Hard contact and
  /// GradientMode::exact only (InputError).
  using ImpulseGradient = std::function<void(int step, const Tape& tape, VectorX& g_impulses)>;
  [[nodiscard]] GradientQuality reverse(std::span<const StateTangent> gradients, StateTangent& g_start,
                                        MatrixX& g_controls, const ImpulseGradient& impulse_gradient = {});

 private:
  void make_steps(const StepObserver& observe);
  void record(int first, int last);
  void clear();

  World world_;
  RolloutOptions options_;
  Workspace workspace_;
  MatrixX controls_;
  std::vector<State> states_;
  /// Warm starts before the first step of each stretch.
  std::vector<WarmStart> warm_;
  std::vector<Tape> tapes_;
  int first_taped_ = 0;
  int last_taped_ = 0;
  int num_approximate_ = 0;
};

}  // namespace tangere
