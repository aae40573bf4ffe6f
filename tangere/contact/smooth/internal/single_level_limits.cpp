/// The part of its restitution that an island keeps: x of rebound_energy.hpp, by Newton's method on the factors of the
/// step.

#include <algorithm>
#include <cmath>

#include "tangere/contact/smooth/single_level.hpp"
#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// Norms, as parts of κ, from which the energy of a bounce is known as well as x of it.
constexpr double kLimitRefined = 1e-10;
/// Tolerance of x in rebound_energy.hpp.
constexpr double kLimitEnough = 1e-11;
constexpr int kMostLimits = 30;

}  // namespace

/// The island's pairs bounce by the part of their restitution that x leaves.
void SingleLevelContact::set_limit(double x) {
  limit_.x = x;
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    PairSlot& slot = problem_.pairs[k];
    if (slot.rebound >= 0) slot.rebound_gap = problem_.rebounds[slot.rebound].keep(limit_.share());
  }
}

void SingleLevelContact::load_limit(const SmoothWarmStart& solved, std::size_t island) {
  if (solved.limits.size() != static_cast<std::size_t>(num_islands_))
    throw InputError("tape", "is not of this world: its islands are others");
  limit_.held = solved.limits[island].held;
  set_limit(solved.limits[island].x);
}

bool SingleLevelContact::bounces() const {
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    const int rebound = problem_.pairs[k].rebound;
    if (rebound >= 0 && problem_.rebounds[rebound].bounces()) return true;
  }
  return false;
}

/// F of the limit and dF/dx at the island's factors, dv⁺/dx in `by_limit_`.
SingleLevelContact::Balance SingleLevelContact::balance_of_limit() {
  energy_.evaluate(problem_, island_, v_);
  energy_.differentiate(problem_, island_, limit_);
  ScratchVector::View r = by_share_.reset(island_.num_unknowns());
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    const PairSlot& slot = problem_.pairs[k];
    if (slot.rebound < 0 || slot.left_out) continue;
    const double gap = problem_.rebounds[slot.rebound].by_share();
    if (gap != 0.0) island_.add_impulse(slot, slot.pair.respond_outside({.gap = gap}), -1.0, r.data());
  }
  island_.solve_velocities(r.data());
  ScratchVector::View by_limit = by_limit_.reset(island_.num_velocities());
  island_.velocity_changes(r.data(), by_limit.data());
  by_limit *= -limit_.share_slope();
  return {energy_.balance(limit_), energy_.by_x() + energy_.by_next().dot(by_limit)};
}

/// Solves the island for another x, on from where it is if that will do. That it fails for one x says nothing about the
/// step.
bool SingleLevelContact::solve_limited(double x) {
  set_limit(x);
  const auto further = [&] {
    const NcpResult result = solve_further(options_.max_iterations, kLimitRefined);
    solution_.statistics.iterations += result.iterations;
    return result.status == NcpStatus::solved;
  };
  if (further()) return true;
  const SmoothStatistics statistics = solution_.statistics;
  const NcpStatus status = solution_.status;
  const double residual = solution_.residual;
  const bool solved = solve_island(SmoothRung::ones);
  solution_.statistics = statistics;
  solution_.status = status;
  solution_.residual = residual;
  return solved && further();
}

/// Lowers the restitution of a solved island on which contact does work (rebound_energy.hpp). False if that is
/// not solved.
bool SingleLevelContact::limit_rebounds(std::size_t island) {
  limit_ = ReboundLimit(options_.kappa);
  if (!bounces()) return true;
  energy_.evaluate(problem_, island_, v_);
  const double gain = energy_.balance(limit_);
  if (!(gain > 0.0)) return true;
  double low = 0.0;
  double high = limit_.most();
  double x = energy_.size() > 0.0 ? limit_.guess(gain / energy_.size()) : 1.0;
  bool found = false;
  bool solved = false;
  for (int trial = 0; trial < kMostLimits; ++trial) {
    solved = solve_limited(x);
    if (!island_.factor()) break;
    const Balance at = balance_of_limit();
    (at.value > 0.0 ? low : high) = x;
    double next = x - at.value / at.slope;
    found = std::abs(next - x) <= kLimitEnough * (1.0 + x) || low == limit_.most();
    if (found) break;
    if (!(next > low && next < high)) next = high == limit_.most() && 2.0 * x > high ? high : 0.5 * (low + high);
    x = next;
  }
  if (!found) {
    // solutions that jump with x
    limit_.held = true;
    solved = solve_limited(high);
    energy_.evaluate(problem_, island_, v_);
    if (high < limit_.most() && (!solved || energy_.balance(limit_) > 0.0)) solved = solve_limited(limit_.most());
  }
  if (!solved) {
    ++solution_.statistics.failures;
    solution_.status = NcpStatus::iteration_limit;
  }
  limits_[island] = limit_;
  solution_.restitution_kept = std::min(solution_.restitution_kept, limit_.share());
  return solved;
}

}  // namespace tangere
