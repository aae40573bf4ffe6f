#include "tangere/solvers/ncp/ncp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/math/assert.hpp"
#include "tangere/math/range.hpp"
#include "tangere/solvers/ncp/cone_product.hpp"
#include "tangere/solvers/ncp/internal/ncp_cones.hpp"

namespace tangere {
namespace {

/// Below this multiple of κ steps are plain.
constexpr double kPlainBelow = 10.0;
/// A step shorter than this is a jam; cones are lifted to this part of the mean product.
constexpr double kJam = 0.1;
constexpr int kMostHalvings = 8;
/// Directions of second order on the same factors, at most.
constexpr int kMostCorrections = 4;

}  // namespace

std::string_view to_string(NcpStatus status) {
  switch (status) {
    case NcpStatus::solved:
      return "solved";
    case NcpStatus::iteration_limit:
      return "iteration limit";
    case NcpStatus::broken_down:
      break;
  }
  return "broken down";
}

void NcpOptions::verify() const {
  internal::require_range("kappa", kappa, 1e-14, 1e3);
  internal::require_range("tolerance", tolerance, 1e-12, 1.0);
  internal::require_range("max_iterations", max_iterations, 1, 100000);
  internal::require_range("fraction", fraction, 0.01, 0.999);
  internal::require_range("num_refinements", num_refinements, 0, 100);
  internal::require_range("refined", refined, 0.0, 1.0);
}

void NcpSolver::bind(NcpProblem& problem) {
  cones_ = problem.cones();
  z_ = problem.z();
  s_ = problem.s();
  TANGERE_ASSERT(z_.size() == s_.size());
  degree_ = 0;
  for (const NcpCone& cone : cones_) degree_ += cone.degree();
  for (std::vector<double>* vector : {&r_, &dz_, &ds_, &z_saved_, &s_saved_}) vector->resize(z_.size());
}

/// r = target e - z ∘ s - second_order Δz ∘ Δs. Answers with the largest change of r.
double NcpSolver::set_target(double target, double second_order) {
  double change = 0.0;
  const auto set = [&](std::size_t i, double value) {
    const double by = std::abs(value - r_[i]);
    change = by > change ? by : change;
    r_[i] = value;
  };
  for (const NcpCone& cone : cones_) {
    if (cone.kind == NcpCone::Kind::orthant) {
      for (int k = cone.first; k < cone.first + cone.size; ++k) {
        const auto i = static_cast<std::size_t>(k);
        double value = target - z_[i] * s_[i];
        if (second_order > 0.0) value -= second_order * dz_[i] * ds_[i];
        set(i, value);
      }
      continue;
    }
    const auto i = static_cast<std::size_t>(cone.first);
    const double* z = z_.data() + i;
    const double* s = s_.data() + i;
    const double* dz = dz_.data() + i;
    const double* ds = ds_.data() + i;
    double head = target - (z[0] * s[0] + tail_dot(z, s, cone.size));
    if (second_order > 0.0) head -= second_order * (dz[0] * ds[0] + tail_dot(dz, ds, cone.size));
    set(i, head);
    for (std::size_t k = 1; k < static_cast<std::size_t>(cone.size); ++k) {
      double value = -(z[0] * s[k] + s[0] * z[k]);
      if (second_order > 0.0) value -= second_order * (dz[0] * ds[k] + ds[0] * dz[k]);
      set(i + k, value);
    }
  }
  return change;
}

double NcpSolver::complementarity(double kappa) const {
  double worst = 0.0;
  // 0, or NaN, which must not pass
  double broken = 0.0;
  const auto add = [&](double entry) {
    const double size = std::abs(entry);
    worst = size > worst ? size : worst;
    broken += size - size;
  };
  for_each_cone(cones_, [&](int first, int n) {
    const double* z = z_.data() + first;
    const double* s = s_.data() + first;
    add(z[0] * s[0] + tail_dot(z, s, n) - kappa);
    for (int k = 1; k < n; ++k) add(z[0] * s[k] + s[0] * z[k]);
  });
  return worst + broken;
}

double NcpSolver::mean_product() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < z_.size(); ++i) sum += z_[i] * s_[i];
  return degree_ > 0 ? sum / degree_ : 0.0;
}

double NcpSolver::product_after(double a) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < z_.size(); ++i) sum += (z_[i] + a * dz_[i]) * (s_[i] + a * ds_[i]);
  return sum / degree_;
}

/// The way to the wall, at most `cap`.
double NcpSolver::largest_step(double cap) const {
  double a = cap;
  for_each_cone(cones_, [&](int first, int n) {
    a = std::min(a, cone_step(z_.data() + first, dz_.data() + first, n));
    a = std::min(a, cone_step(s_.data() + first, ds_.data() + first, n));
  });
  return a;
}

/// Lifts what is jammed; true if anything was.
bool NcpSolver::lift(double nu) {
  bool lifted = false;
  for_each_cone(cones_, [&](int first, int n) {
    double* z = z_.data() + first;
    double* s = s_.data() + first;
    const double margin_z = cone_margin(z, n);
    const double margin_s = cone_margin(s, n);
    const double wanted = kJam * nu;
    if (margin_z * margin_s >= wanted) return;
    // (margin_z + t) (margin_s + t) = wanted
    const double half = 0.5 * (margin_z + margin_s);
    const double missing = wanted - margin_z * margin_s;
    const double t = missing / (half + std::sqrt(half * half + missing));
    z[0] += t;
    s[0] += t;
    lifted = true;
  });
  return lifted;
}

void NcpSolver::move(NcpProblem& problem, double a) {
  for (std::size_t i = 0; i < z_.size(); ++i) {
    z_[i] = z_saved_[i] + a * dz_[i];
    s_[i] = s_saved_[i] + a * ds_[i];
  }
  problem.advance(a);
}

NcpResult NcpSolver::solve(NcpProblem& problem, const NcpOptions& options) {
  bind(problem);
  const double kappa = options.kappa;
  const double enough = options.tolerance * kappa;
  const double enough_refined = options.refined * kappa;
  NcpResult result;
  result.equalities = problem.evaluate();
  result.complementarity = complementarity(kappa);
  bool jammed = false;
  int refinements = 0;
  for (;; ++result.iterations) {
    result.nu = mean_product();
    const bool finite = std::isfinite(result.equalities) && std::isfinite(result.complementarity);
    const bool good = result.equalities <= enough && result.complementarity <= enough;
    const double worst = std::max(result.equalities, result.complementarity);
    const bool refined = refinements > 0 && worst <= enough_refined;
    if (good && (refined || refinements++ >= options.num_refinements)) return result;
    if (!finite || result.iterations >= options.max_iterations) {
      result.status = finite ? NcpStatus::iteration_limit : NcpStatus::broken_down;
      return result;
    }
    if (!problem.factor()) {
      result.status = NcpStatus::broken_down;
      return result;
    }

    // direction
    const bool plain = jammed || result.nu < kPlainBelow * kappa;
    (void)set_target(jammed ? std::max(result.nu, kappa) : kappa, 0.0);
    problem.solve(r_, dz_, ds_);
    if (good) {
      // near a solution nothing jams. What is left of the products is the change of their second-order term
      const int most = options.refined > 0.0 ? kMostCorrections : 1;
      for (int k = 0; k < most && set_target(kappa, 1.0) > enough_refined; ++k) problem.correct(r_, 1.0, dz_, ds_);
    }
    double a = std::min(1.0, options.fraction * largest_step(2.0));
    if (!good && !plain) {
      const double ratio = std::max(product_after(a), 0.0) / result.nu;
      (void)set_target(std::max(ratio * ratio * ratio * result.nu, kappa), a * a);
      problem.solve(r_, dz_, ds_);
      a = std::min(1.0, options.fraction * largest_step(2.0));
    }

    // step: shorter while both norms grow
    problem.save();
    std::copy(z_.begin(), z_.end(), z_saved_.begin());
    std::copy(s_.begin(), s_.end(), s_saved_.begin());
    for (int halvings = 0;; ++halvings, a *= 0.5) {
      move(problem, a);
      const double equalities = problem.evaluate();
      const double products = complementarity(kappa);
      const bool better = equalities <= result.equalities || products <= result.complementarity;
      if (!better && good) {
        // down to rounding: a shorter step would not be better, and what is solved is no jam
        move(problem, 0.0);
        (void)problem.evaluate();
        return result;
      }
      if (!better && halvings < kMostHalvings) continue;
      result.equalities = equalities;
      result.complementarity = products;
      break;
    }

    jammed = false;
    if (a < kJam && !good && lift(mean_product())) {
      jammed = true;
      result.equalities = problem.evaluate();
      result.complementarity = complementarity(kappa);
    }
  }
}

NcpResult NcpSolver::continue_to(double kappa, NcpProblem& problem, NcpOptions options) {
  options.kappa = kappa;
  return solve(problem, options);
}

}  // namespace tangere
