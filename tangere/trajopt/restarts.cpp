#include "tangere/trajopt/restarts.hpp"

#include <cmath>
#include <utility>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/trajopt/search.hpp"

namespace tangere {
namespace {

/// The guess's controls, or zero, with noise.
MatrixX noisy_controls(const OptimalControl& problem, const Guess& guess, double noise, Random& random) {
  MatrixX u = guess.u;
  if (u.size() == 0) u.setZero(problem.dynamics().nu(), problem.num_steps());
  for (Eigen::Index k = 0; k < u.cols(); ++k)
    for (Eigen::Index i = 0; i < u.rows(); ++i) {
      const double range = 0.5 * (problem.upper_controls()(i, k) - problem.lower_controls()(i, k));
      u(i, k) += noise * (std::isfinite(range) ? range : 1.0) * random.normal();
    }
  return u;
}

/// The guess's states with a bump per coordinate.
MatrixX bent_states(const OptimalControl& problem, const Guess& guess, double noise, Random& random) {
  constexpr double kPi = 3.14159265358979323846;
  const Dynamics& dynamics = problem.dynamics();
  VectorX height(dynamics.ndx()), bump, x;
  for (double& entry : height) entry = noise * random.normal();
  MatrixX out = guess.x;
  for (int k = 0; k < out.cols(); ++k) {
    bump = std::sin(kPi * k / problem.num_steps()) * height;
    dynamics.plus(guess.x.col(k), bump, x);
    out.col(k) = x;
  }
  return out;
}

}  // namespace

void RestartOptions::verify() const {
  if (count < 1) throw InputError("count", "must be at least 1, got " + std::to_string(count));
  if (search_from < 0) throw InputError("search_from", "must not be negative, got " + std::to_string(search_from));
  if (!(noise >= 0.0 && std::isfinite(noise)))
    throw InputError("noise", "must be finite and not negative, got " + internal::to_text(noise));
  if (!(state_noise >= 0.0 && std::isfinite(state_noise)))
    throw InputError("state_noise", "must be finite and not negative, got " + internal::to_text(state_noise));
  for (const double least : least_regularisation)
    if (!(least >= 0.0))
      throw InputError("least_regularisation", "must not be negative, got " + internal::to_text(least));
}

OptimizeResult solve_with_restarts(Optimizer& optimizer, const RestartOptions& options, const Guess& guess,
                                   const IterationCallback& callback, int* starts) {
  options.verify();
  Random random(options.seed);
  OptimizeResult best;
  for (int i = 0; i < options.count; ++i) {
    Guess start = guess;
    if (i > 0 || options.noisy_first) start.u = noisy_controls(optimizer.problem(), guess, options.noise, random);
    if (i > 0 && guess.x.size() > 0 && options.state_noise > 0.0)
      start.x = bent_states(optimizer.problem(), guess, options.state_noise, random);
    if (options.search_from > 0 && i + 1 >= options.search_from)
      start.u = search(optimizer.problem(),
                       {.contact = optimizer.options().phases.back(),
                        .seed = options.seed * 1000 + static_cast<std::uint64_t>(i),
                        .stop_when_feasible = true},
                       start)
                    .guess.u;
    if (!options.least_regularisation.empty())
      optimizer.set_least_regularisation(options.least_regularisation[i % options.least_regularisation.size()]);
    const OptimizeResult& result = optimizer.solve(start, callback);
    if (starts != nullptr) *starts = i + 1;
    const bool better = i == 0 || result.status == OptimizeStatus::solved || result.violation < best.violation;
    if (better) best = result;
    if (result.status == OptimizeStatus::solved || result.status == OptimizeStatus::stopped) break;
  }
  return best;
}

}  // namespace tangere
