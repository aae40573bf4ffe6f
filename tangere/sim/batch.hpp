#pragma once

/// Many worlds at once, over threads: n copies of one world, each with a state and, if wanted, parameters of its own.
///
///   Batch batch(world, 1024);
///   batch.set_parameters({find_step_parameter(world, "torso.mass")}, masses);        one row a world
///   for (…) batch.step(controls);                                                    moves batch.q() and batch.v()
///
/// The motion of a world depends on that world alone, bit for bit: not on the number of threads nor on the others.
///
/// Numbers come and go as plain memory, one world after the other: controls are n rows of nu, states n rows of
/// nq + nv (q, then v), tangents n rows of 2 nv. A rollout has such a block a step, the first step first.
///
/// Live functions (`step`, `record` and the derivatives of what was recorded) go on from the last step's contacts.
/// Functions of given states (`rollout`, `linearize`, …) leave the live states alone and start cold: their answers
/// depend on their arguments alone.

#include <functional>
#include <memory>
#include <span>

#include "tangere/sim/rollout.hpp"
#include "tangere/sim/step_parameters.hpp"

namespace tangere {

struct BatchOptions {
  /// 0: as many as the machine has.
  int num_threads = 0;
  GradientMode gradient_mode = GradientMode::exact;
  /// Tapes that each thread holds in reverse passes (RolloutOptions).
  int max_tapes = 64;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// Not for concurrent use.
class Batch {
 public:
  /// All in `start`.
  Batch(const World& world, const State& start, int size, const BatchOptions& options = {});
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  [[nodiscard]] int size() const;
  [[nodiscard]] int num_threads() const;
  /// The world of one; the same for all before `set_parameters`.
  [[nodiscard]] const World& world(int i = 0) const;
  /// The live states, n x nq and n x nv, row after row. Their memory stays where it is.
  [[nodiscard]] std::span<double> q();
  [[nodiscard]] std::span<double> v();
  /// Status of the last step, one per world.
  [[nodiscard]] std::span<const StepStatus> statuses() const;

  /// One row of values a world. Live states and warm starts stay. Throws InputError naming the world.
  void set_parameters(std::span<const StepParameter> parameters, std::span<const double> values);
  /// Back to the start, cold.
  void reset(std::span<const int> which);
  void reset();

  using In = std::span<const double>;
  using Out = std::span<double>;

  /// One step of all. Throws InputError naming the first world whose state or control is wrong, which then stays where
  /// it is; all others have moved.
  void step(In controls);
  /// The same, keeping what derivatives need.
  void record(In controls);
  /// Jacobians of the last `record` (InputError before): A is n x (2 nv)², B n x 2 nv x nu, row after row.
  void jacobians(Out A, Out B);
  /// From gradients in the next states to those in states and controls.
  void vjp(In g_next, Out g_state, Out g_controls);
  /// How next states move if states and controls do.
  void jvp(In d_state, In d_controls, Out d_next);

  /// `num_steps` from `states`: states, the first of them the given ones, num_steps + 1 blocks.
  void rollout(In states, In controls, int num_steps, Out all_states);
  /// From gradients in all states (tangents, num_steps + 1 blocks) to those in the first and in all controls.
  void rollout_vjp(In states, In controls, int num_steps, In gradients, Out g_states, Out g_controls);
  /// One step with its Jacobians.
  void linearize(In states, In controls, Out next, Out A, Out B);

  /// Called by the calling thread now and then during long work; what it throws ends the work. Empty for none.
  void set_watch(std::function<void()> watch);

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere
