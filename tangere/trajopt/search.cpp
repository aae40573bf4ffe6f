#include "tangere/trajopt/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/task_pool.hpp"
#include "tangere/trajopt/internal/trial.hpp"

namespace tangere {
namespace {

using internal::KnotPoint;
using internal::Transcription;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The worth of controls.
struct Score {
  double objective = kInfinity;
  double cost = kInfinity;
  double violation = kInfinity;
};

/// Memory of one thread.
struct Runner {
  std::unique_ptr<Stepper> stepper;
  internal::Workers workers;
  std::vector<KnotPoint> points;
};

/// Half the range of every control, or 1.
VectorX half_ranges(const OptimalControl& problem) {
  VectorX out = VectorX::Ones(problem.dynamics().nu());
  for (int i = 0; i < out.size(); ++i) {
    const double range = 0.5 * (problem.upper_controls()(i, 0) - problem.lower_controls()(i, 0));
    if (std::isfinite(range)) out[i] = range;
  }
  return out;
}

/// Controls between nodes (nu x nodes), clamped to their bounds.
MatrixX controls_of(const OptimalControl& problem, const MatrixX& nodes) {
  const int steps = problem.num_steps();
  const Eigen::Index last = nodes.cols() - 1;
  MatrixX u(nodes.rows(), steps);
  for (int k = 0; k < steps; ++k) {
    const double at = steps == 1 ? 0.0 : static_cast<double>(k) / (steps - 1) * static_cast<double>(last);
    const Eigen::Index i = std::min<Eigen::Index>(static_cast<Eigen::Index>(at), std::max<Eigen::Index>(last - 1, 0));
    const double part = at - static_cast<double>(i);
    u.col(k) = (1.0 - part) * nodes.col(i) + part * nodes.col(std::min(i + 1, last));
  }
  return u.cwiseMax(problem.lower_controls()).cwiseMin(problem.upper_controls());
}

/// Nodes of controls: their values at the nodes' times.
MatrixX nodes_of(const OptimalControl& problem, const Guess& guess, int count) {
  const int steps = problem.num_steps();
  const int nu = problem.dynamics().nu();
  if (guess.u.size() == 0) return MatrixX::Zero(nu, count);
  if (guess.u.rows() != nu || guess.u.cols() != steps)
    throw InputError("guess.u", "must be " + std::to_string(nu) + " x " + std::to_string(steps) + ", got " +
                                    std::to_string(guess.u.rows()) + " x " + std::to_string(guess.u.cols()));
  MatrixX nodes(nu, count);
  for (int i = 0; i < count; ++i)
    nodes.col(i) = guess.u.col(count == 1 ? 0 : static_cast<Eigen::Index>(i) * (steps - 1) / (count - 1));
  return nodes;
}

Score score_of(const OptimalControl& problem, const Transcription& rows, const MatrixX& u, double penalty,
               Runner& runner) {
  std::vector<KnotPoint>& points = runner.points;
  for (int k = 0; k < problem.num_steps(); ++k) points[k].u = u.col(k);
  int bad_knot = 0;
  Score score;
  if (!internal::roll_out(problem, *runner.stepper, points, bad_knot)) return score;
  if (!rows.evaluate(points, runner.workers)) return score;
  score = {0.0, 0.0, 0.0};
  double broken = 0.0;
  for (int k = 0; k < rows.num_knots(); ++k) {
    const KnotPoint& point = points[k];
    score.cost += 0.5 * rows.at(k).weight.dot(point.r.cwiseAbs2());
    broken += point.c.squaredNorm() + point.h.cwiseMax(0.0).squaredNorm();
    if (point.c.size() > 0) score.violation = std::max(score.violation, point.c.lpNorm<Eigen::Infinity>());
    if (point.h.size() > 0) score.violation = std::max(score.violation, point.h.maxCoeff());
  }
  score.objective = score.cost + 0.5 * penalty * broken;
  if (!std::isfinite(score.objective)) return {};
  return score;
}

/// Mean and deviation of nodes.
struct Belief {
  MatrixX mean;
  MatrixX deviation;
};

void update_cem(const std::vector<MatrixX>& samples, const std::vector<int>& order, int elite, const VectorX& least,
                Belief& belief) {
  MatrixX mean = MatrixX::Zero(belief.mean.rows(), belief.mean.cols());
  for (int e = 0; e < elite; ++e) mean += samples[order[e]] / elite;
  MatrixX variance = MatrixX::Zero(mean.rows(), mean.cols());
  for (int e = 0; e < elite; ++e) variance += (samples[order[e]] - mean).cwiseAbs2() / elite;
  belief.mean = mean;
  belief.deviation = variance.cwiseSqrt().cwiseMax(least.replicate(1, mean.cols()));
}

void update_mppi(const std::vector<MatrixX>& samples, const std::vector<Score>& scores, const SearchOptions& options,
                 const VectorX& least, Belief& belief) {
  double best = kInfinity, sum = 0.0;
  int count = 0;
  for (const Score& score : scores) {
    if (!std::isfinite(score.objective)) continue;
    best = std::min(best, score.objective);
    sum += score.objective;
    ++count;
  }
  if (count == 0) return;
  const double scale = std::max(options.temperature * (sum / count - best), 1e-300);
  MatrixX mean = MatrixX::Zero(belief.mean.rows(), belief.mean.cols());
  double total = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double weight = std::isfinite(scores[i].objective) ? std::exp(-(scores[i].objective - best) / scale) : 0.0;
    mean += weight * samples[i];
    total += weight;
  }
  belief.mean = mean / total;
  belief.deviation = (options.cooling * belief.deviation).cwiseMax(least.replicate(1, mean.cols()));
}

/// The generator of a sample.
Random generator_of(const SearchOptions& options, int generation, int sample) {
  return Random(options.seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(generation) * 1000003ULL +
                static_cast<std::uint64_t>(sample));
}

}  // namespace

std::string_view to_string(SearchMethod method) { return method == SearchMethod::cem ? "cem" : "mppi"; }

void SearchOptions::verify() const {
  const auto at_least = [](const char* field, int value, int least) {
    if (value < least)
      throw InputError(field, "must be at least " + std::to_string(least) + ", got " + std::to_string(value));
  };
  const auto positive = [](const char* field, double value) {
    if (!(value > 0.0)) throw InputError(field, "must be above 0, got " + internal::to_text(value));
  };
  at_least("samples", samples, 2);
  at_least("elite", elite, 1);
  if (elite > samples) throw InputError("elite", "must be at most `samples`, got " + std::to_string(elite));
  at_least("generations", generations, 1);
  at_least("nodes", nodes, 1);
  positive("spread", spread);
  positive("least_spread", least_spread);
  positive("temperature", temperature);
  positive("cooling", cooling);
  positive("penalty", penalty);
  positive("max_seconds", max_seconds);
}

SearchResult search(const OptimalControl& problem, const SearchOptions& options, const Guess& guess,
                    const SearchCallback& callback) {
  const auto begin = std::chrono::steady_clock::now();
  options.verify();
  const Transcription rows(problem, {});
  TaskPool pool(options.num_threads);
  std::vector<Runner> runners;
  for (int i = 0; i < pool.num_threads(); ++i) {
    runners.push_back({problem.dynamics().stepper(problem.horizon().time_steps, options.contact),
                       internal::Workers(problem.dynamics(), 1),
                       {}});
    rows.resize(runners.back().points);
  }
  const VectorX range = half_ranges(problem);
  const VectorX least = options.least_spread * range;
  Belief belief{nodes_of(problem, guess, options.nodes), MatrixX(range.size(), options.nodes)};
  belief.deviation = (options.spread * range).replicate(1, options.nodes);
  std::vector<MatrixX> samples(options.samples, belief.mean);
  std::vector<Score> scores(options.samples);
  std::vector<int> order(options.samples);
  SearchResult best;
  best.objective = best.cost = best.violation = kInfinity;
  best.guess.u = controls_of(problem, belief.mean);
  for (int generation = 0; generation < options.generations; ++generation) {
    pool.run(options.samples, 1, [&](int i, int thread) {
      // the first sample is the mean itself
      Random random = generator_of(options, generation, i);
      samples[i] = belief.mean;
      for (Eigen::Index e = 0; i > 0 && e < belief.mean.size(); ++e)
        samples[i].data()[e] += belief.deviation.data()[e] * random.normal();
      scores[i] = score_of(problem, rows, controls_of(problem, samples[i]), options.penalty, runners[thread]);
    });
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return scores[a].objective < scores[b].objective; });
    const Score& winner = scores[order[0]];
    best.generations = generation + 1;
    best.rollouts += options.samples;
    if (winner.objective < best.objective) {
      best.objective = winner.objective;
      best.cost = winner.cost;
      best.violation = winner.violation;
      best.guess.u = controls_of(problem, samples[order[0]]);
    }
    best.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (callback && !callback(best)) break;
    if (options.stop_when_feasible && best.violation <= options.constraint_tolerance) break;
    if (best.seconds > options.max_seconds) break;
    if (options.method == SearchMethod::cem) update_cem(samples, order, options.elite, least, belief);
    if (options.method == SearchMethod::mppi) update_mppi(samples, scores, options, least, belief);
  }
  return best;
}

}  // namespace tangere
