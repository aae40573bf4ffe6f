#include "tangere/sim/rollout.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"

namespace tangere {

Rollout::Rollout(World world, const RolloutOptions& options)
    : world_(std::move(world)), options_(options), workspace_(world_) {
  if (options_.max_tapes < 1) throw InputError("max_tapes", "must be at least 1");
}

void Rollout::run(const State& start, const Eigen::Ref<const MatrixX>& controls, const StepObserver& observe) {
  if (controls.rows() != world_.nu())
    throw InputError("controls",
                     "must have " + std::to_string(world_.nu()) + " rows, got " + std::to_string(controls.rows()));
  if (start.q.size() != world_.nq() || start.v.size() != world_.nv())
    throw InputError("start", "must have " + std::to_string(world_.nq()) + " positions and " +
                                  std::to_string(world_.nv()) + " velocities, got " + std::to_string(start.q.size()) +
                                  " and " + std::to_string(start.v.size()));
  // both may be of the last run
  State first = start;
  MatrixX given = controls;
  clear();
  try {
    controls_ = std::move(given);
    states_.resize(static_cast<std::size_t>(num_steps()) + 1);
    states_.front() = std::move(first);
    make_steps(observe);
  } catch (...) {
    clear();
    throw;
  }
}

void Rollout::clear() {
  controls_.resize(world_.nu(), 0);
  states_.clear();
  num_approximate_ = 0;
  first_taped_ = last_taped_ = 0;
}

void Rollout::make_steps(const StepObserver& observe) {
  const int n = num_steps();
  const int stretch = options_.max_tapes;
  tapes_.resize(static_cast<std::size_t>(std::min(stretch, n)));
  warm_.resize(static_cast<std::size_t>((n + stretch - 1) / stretch));
  workspace_.forget();
  const int last_stretch = n == 0 ? 0 : (n - 1) / stretch * stretch;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i % stretch == 0) workspace_.save(warm_[at / static_cast<std::size_t>(stretch)]);
    // the last stretch is the first one back
    Tape* tape = i >= last_stretch ? &tapes_[i - last_stretch] : nullptr;
    internal::with_prefix("step[" + std::to_string(i) + "]", [&] {
      const StepResult& result = step(world_, states_[at], controls_.col(i), workspace_, states_[at + 1], tape);
      if (result.status != StepStatus::solved) ++num_approximate_;
      if (observe) observe(i, result);
    });
  }
  first_taped_ = last_stretch;
  last_taped_ = n;
}

void Rollout::record(int first, int last) {
  first_taped_ = last_taped_ = 0;
  workspace_.restore(warm_[first / options_.max_tapes]);
  State next;
  for (int i = first; i < last; ++i)
    (void)step(world_, states_[i], controls_.col(i), workspace_, next, &tapes_[i - first]);
  first_taped_ = first;
  last_taped_ = last;
}

GradientQuality Rollout::reverse(std::span<const StateTangent> gradients, StateTangent& g_start, MatrixX& g_controls,
                                 const ImpulseGradient& impulse_gradient) {
  const int n = num_steps();
  if (states_.empty()) throw InputError("rollout", "call run first");
  if (gradients.size() != static_cast<std::size_t>(n) + 1)
    throw InputError("gradients", "must have one entry a state, " + std::to_string(n + 1) + ", got " +
                                      std::to_string(gradients.size()));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    for (const VectorX* g : {&gradients[i].q, &gradients[i].v})
      if (g->size() != 0 && g->size() != world_.nv())
        throw InputError("gradients[" + std::to_string(i) + "]",
                         "must have " + std::to_string(world_.nv()) + " entries for q and for v, or none");
  if (impulse_gradient && options_.gradient_mode != GradientMode::exact)
    throw InputError("impulse_gradient", "losses on impulses have exact gradients only");
  const auto add = [](VectorX& to, const VectorX& from) {
    if (from.size() > 0) to += from;
  };
  g_controls.resize(world_.nu(), n);
  StateTangent g{VectorX::Zero(world_.nv()), VectorX::Zero(world_.nv())};
  add(g.q, gradients.back().q);
  add(g.v, gradients.back().v);
  StateTangent before;
  VectorX g_u;
  VectorX g_impulses;
  GradientQuality quality = GradientQuality::exact;
  for (int i = n - 1; i >= 0; --i) {
    if (i < first_taped_ || i >= last_taped_) {
      const int first = i / options_.max_tapes * options_.max_tapes;
      record(first, i + 1);
    }
    const Tape& tape = tapes_[i - first_taped_];
    if (impulse_gradient) {
      g_impulses.setZero(num_impulses(tape));
      impulse_gradient(i, tape, g_impulses);
      quality = worst(quality, step_vjp(world_, tape, workspace_, g, g_impulses, before, g_u));
    } else {
      quality = worst(quality, step_vjp(world_, tape, workspace_, g, before, g_u, options_.gradient_mode));
    }
    g_controls.col(i) = g_u;
    std::swap(g, before);
    add(g.q, gradients[i].q);
    add(g.v, gradients[i].v);
  }
  g_start = g;
  return quality;
}

}  // namespace tangere
