/// The central path by its length.
///
/// The points w = (y, z, s) with f = 0 and z ∘ s = μ e are a curve. It leads from a large μ, where there is one
/// solution, to κ, but not always downhill: contact with friction has several solutions when κ is small, and where two
/// of them meet the path turns, and μ grows for a while. Newton's matrix at a given μ is singular there, and from a
/// point above the turn no step to a smaller μ leads anywhere. So μ is an unknown too:
///
///   direction    b = dw / d log μ, and (b, 1) over its norm, a change of z or s counted as a part of its cone's head
///   step         h along it: log μ changes by ±h / norm, downhill at first, and then as the step before went
///   correction   Newton's steps that change nothing along the direction: towards μ (1 + c) for the c that does so
///
/// Steps towards a target are affine in it, so b is the difference of two of them, on the same factors. Where the
/// correction fails, or the direction turns by too much, the step was too long: back, and a shorter one.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/math/assert.hpp"
#include "tangere/solvers/ncp/internal/ncp_cones.hpp"

namespace tangere {
namespace {

constexpr double kFirstLength = 1.5;
constexpr double kLongest = 3.0;
constexpr double kShortest = 1e-5;
constexpr double kLonger = 1.7;
constexpr double kShorter = 0.3;
/// Steps after no more corrections than this may be longer.
constexpr int kFewCorrections = 2;
constexpr int kMostCorrections = 10;
/// Norms of points on the path, as parts of μ; the smaller one where steps are short.
constexpr double kNear = 0.05;
constexpr double kOn = 1e-3;
constexpr double kShortStep = 1.0;
/// The cosine of the largest turn of a step that is not tiny.
constexpr double kTurn = 0.6;
constexpr double kTinyStep = 1e-3;
/// Fraction of the way to the wall.
constexpr double kFraction = 0.9;
/// Iterations to the path's first point, and from its last one to the solution.
constexpr int kStartIterations = 120;
constexpr int kLastIterations = 100;

}  // namespace

void NcpSolver::Path::resize(std::size_t size) {
  for (std::vector<double>* vector : {&z, &s, &z_size, &s_size, &z_along, &s_along, &z_newton, &s_newton})
    vector->assign(size, 0.0);
}

void NcpSolver::aim(NcpProblem& problem, double target) {
  set_target(target, 0.0);
  problem.solve(r_, dz_, ds_);
}

/// Goes in the last direction, at most most of the way to the wall: the part of it that was gone.
double NcpSolver::go(NcpProblem& problem) {
  const double a = std::min(1.0, kFraction * largest_step(2.0));
  problem.save();
  std::copy(z_.begin(), z_.end(), z_saved_.begin());
  std::copy(s_.begin(), s_.end(), s_saved_.begin());
  move(problem, a);
  return a;
}

void NcpSolver::go_to(NcpProblem& problem, const std::vector<double>& y, const std::vector<double>& z,
                      const std::vector<double>& s) {
  problem.read(y);
  std::copy(z.begin(), z.end(), z_.begin());
  std::copy(s.begin(), s.end(), s_.begin());
}

void NcpSolver::keep_point(NcpProblem& problem, double mu) {
  path_.mu = mu;
  problem.write(path_.y);
  std::copy(z_.begin(), z_.end(), path_.z.begin());
  std::copy(s_.begin(), s_.end(), path_.s.begin());
}

/// b in (dz, ds), and Newton's step at μ.
void NcpSolver::find_direction(NcpProblem& problem, double mu) {
  aim(problem, mu);
  std::swap(dz_, path_.z_newton);
  std::swap(ds_, path_.s_newton);
  aim(problem, 2.0 * mu);
  for (std::size_t i = 0; i < dz_.size(); ++i) {
    dz_[i] -= path_.z_newton[i];
    ds_[i] -= path_.s_newton[i];
  }
}

/// Measures changes of z and s at this point.
void NcpSolver::measure() {
  for_each_cone(cones_, [&](int first, int n) {
    const auto head = static_cast<std::size_t>(first);
    for (std::size_t i = head; i < head + static_cast<std::size_t>(n); ++i) {
      path_.z_size[i] = z_[head];
      path_.s_size[i] = s_[head];
    }
  });
}

/// The product of a change of (z, s) with the path's direction.
double NcpSolver::along_path(const std::vector<double>& dz, const std::vector<double>& ds) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < dz.size(); ++i)
    sum += dz[i] / path_.z_size[i] * path_.z_along[i] + ds[i] / path_.s_size[i] * path_.s_along[i];
  return sum / degree_;
}

bool NcpSolver::correct(NcpProblem& problem, double tolerance, double& mu, int& iterations) {
  double last = std::numeric_limits<double>::infinity();
  bool slow = false;
  for (int k = 0;; ++k, ++iterations) {
    const double equalities = problem.evaluate();
    const double worst = std::max(equalities, complementarity(mu)) / mu;
    if (worst <= tolerance) return true;
    const bool again = slow && !(worst <= 0.5 * last);
    slow = slow || !(worst <= 0.5 * last);
    if (again || k >= kMostCorrections || !(worst < 10.0 * last) || !problem.factor()) return false;
    last = worst;
    find_direction(problem, mu);
    const double slope = along_path(dz_, ds_) + path_.mu_along;
    const double c = std::clamp(-along_path(path_.z_newton, path_.s_newton) / slope, -0.9, 2.0);
    if (!std::isfinite(c)) return false;
    aim(problem, mu * (1.0 + c));
    mu *= 1.0 + c * go(problem);
  }
}

NcpResult NcpSolver::follow(double from, NcpProblem& problem, const NcpOptions& options) {
  path_.mu_lowest = 0.0;
  NcpOptions start = options;
  start.kappa = from;
  start.tolerance = kNear;
  start.num_refinements = 0;
  start.max_iterations = std::min(kStartIterations, options.max_iterations);
  NcpResult result = solve(problem, start);
  if (result.status != NcpStatus::solved) return result;
  int& iterations = result.iterations;
  result.status = NcpStatus::iteration_limit;

  path_.resize(z_.size());
  path_.mu_along = -1.0;
  // where the first step goes back to if there is no direction
  keep_point(problem, from);
  double mu = from;
  double length = kFirstLength;
  // of a step that was not corrected again
  bool arrived = false;
  while (iterations < options.max_iterations) {
    measure();
    if (!problem.factor()) break;
    ++iterations;
    find_direction(problem, mu);
    double norm = 0.0;
    for (std::size_t i = 0; i < dz_.size(); ++i) {
      const double z_part = dz_[i] / path_.z_size[i];
      const double s_part = ds_[i] / path_.s_size[i];
      norm += z_part * z_part + s_part * s_part;
    }
    norm = std::sqrt(1.0 + norm / degree_);
    const double same = along_path(dz_, ds_) + path_.mu_along;
    bool good = std::isfinite(norm) && (!arrived || std::abs(same) >= kTurn * norm || length <= kTinyStep);
    if (good) {
      // here is where steps come back to
      const double sign = same >= 0.0 ? 1.0 : -1.0;
      for (std::size_t i = 0; i < dz_.size(); ++i) {
        path_.z_along[i] = sign * dz_[i] / (path_.z_size[i] * norm);
        path_.s_along[i] = sign * ds_[i] / (path_.s_size[i] * norm);
      }
      path_.mu_along = sign / norm;
      keep_point(problem, mu);
      if (path_.mu_lowest == 0.0 || mu < path_.mu_lowest) {
        path_.y_lowest = path_.y;
        path_.z_lowest = path_.z;
        path_.s_lowest = path_.s;
        path_.mu_lowest = mu;
      }

      const double along = mu * std::exp(length * path_.mu_along);
      const double across = -mu * along_path(path_.z_newton, path_.s_newton) * sign / norm;
      const bool to_end = sign < 0.0 && along <= options.kappa;
      const double target = to_end ? options.kappa : std::max(along + across, 0.5 * along);
      aim(problem, target);
      const double a = go(problem);
      mu += a * (target - mu);
      if (a < 1.0) length = std::min(length, std::max(kShortest, std::log(mu / path_.mu) / path_.mu_along));
      if (to_end && a == 1.0) {
        NcpOptions end = options;
        end.max_iterations = kLastIterations;
        const int before = iterations;
        NcpResult answer = solve(problem, end);
        answer.iterations += before;
        if (answer.status == NcpStatus::solved) return answer;
        iterations = answer.iterations;
        good = false;
      } else {
        const int before = iterations;
        good = correct(problem, length < kShortStep ? kOn : kNear, mu, iterations);
        if (good && iterations - before <= kFewCorrections) length = std::min(kLonger * length, kLongest);
      }
    }
    arrived = good;
    if (good) continue;
    length *= kShorter;
    if (length < kShortest) break;
    // from nearer to the path, if that can be
    go_to(problem, path_.y, path_.z, path_.s);
    mu = path_.mu;
    measure();
    if (correct(problem, kOn, mu, iterations)) continue;
    go_to(problem, path_.y, path_.z, path_.s);
    mu = path_.mu;
    (void)problem.evaluate();
  }
  return result;
}

double NcpSolver::go_to_lowest(NcpProblem& problem) {
  if (path_.mu_lowest == 0.0) return 0.0;
  bind(problem);
  TANGERE_ASSERT(z_.size() == path_.z_lowest.size());
  go_to(problem, path_.y_lowest, path_.z_lowest, path_.s_lowest);
  (void)problem.evaluate();
  return path_.mu_lowest;
}

}  // namespace tangere
