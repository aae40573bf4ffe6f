#pragma once

/// Relaxed nonlinear complementarity by a primal-dual interior point:
///
///   f(y, z, s; θ) = 0,   z ∘ s = κ e,   z and s in R₊ⁿ × Q × … × Q
///
/// The relaxation κ is part of the problem: its solution is a smooth function of θ, wanted at that κ and not beyond. So
/// complementarity is tested from both sides, and steps aim at κ, never below.
///
/// A problem brings its own linear algebra (`NcpProblem`): the solver sees the cones, and asks for residuals, a
/// factorisation, and directions. Blocks can so be eliminated as their structure allows. `DenseNcp` is for problems
/// that have none.
///
/// The iteration (Mehrotra's, with what made contact problems converge):
///
///   1  direction towards κ; its length a, 0.95 of the way to the wall
///   2  ν = zᵀs / cones; target max((ν(a)/ν)³ ν, κ); direction with the second-order term a² Δz ∘ Δs
///   3  below 10 κ: neither of these, plain Newton towards κ (centring from both sides else jams on a cone's wall)
///   4  accepted unless both norms grow; else halved
///   5  after a step shorter than 0.1: cones whose margins' product is below 0.1 ν are lifted along e, target ν
///
/// until equalities and |z ∘ s - κ e| are below κ / 10.

#include <span>
#include <string_view>
#include <vector>

#include "tangere/math/types.hpp"

namespace tangere {

/// Consecutive entries of z and s: numbers ≥ 0, or one second-order cone of `size` ≥ 2.
struct NcpCone {
  enum class Kind { orthant, second_order };
  Kind kind = Kind::orthant;
  int first = 0;
  int size = 1;

  /// Cones it counts as: z ∘ s = κ e makes zᵀs = κ for each.
  [[nodiscard]] int degree() const { return kind == Kind::orthant ? size : 1; }
};

enum class NcpStatus {
  solved,
  iteration_limit,
  /// A factorisation failed or a number is not finite.
  broken_down,
};
[[nodiscard]] std::string_view to_string(NcpStatus status);

struct NcpOptions {
  double kappa = 1e-6;
  /// Both norms of a solution, as a part of κ.
  double tolerance = 0.1;
  int max_iterations = 30;
  /// Part of the way to the wall that a step takes.
  double fraction = 0.95;
  /// More steps once the tolerance is met, for derivatives, with second-order terms until products are within `refined`
  /// of κ (once, if that is 0). Fewer if both norms are after the first.
  int num_refinements = 0;
  double refined = 0.0;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The problem at its iterate (y, z, s). Everything is the problem's own memory.
class NcpProblem {
 public:
  NcpProblem() = default;
  NcpProblem(const NcpProblem&) = default;
  NcpProblem& operator=(const NcpProblem&) = default;
  NcpProblem(NcpProblem&&) = default;
  NcpProblem& operator=(NcpProblem&&) = default;
  virtual ~NcpProblem() = default;

  [[nodiscard]] virtual std::span<const NcpCone> cones() const = 0;
  [[nodiscard]] virtual std::span<double> z() = 0;
  [[nodiscard]] virtual std::span<double> s() = 0;

  /// f at the iterate, kept; answers with its largest entry, in units that make κ / 10 a sensible tolerance.
  virtual double evaluate() = 0;
  /// Factors of the Newton matrix at the iterate of the last `evaluate`. False if there are none.
  virtual bool factor() = 0;
  /// The direction with f + Df (Δy, Δz, Δs) = 0 and arrow(s) Δz + arrow(z) Δs = r; Δy is kept.
  virtual void solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) = 0;
  /// The same where r has the second-order term of the direction that dz, ds and Δy are: with such terms of f, times
  /// `second_order`, as far as they matter.
  virtual void correct(std::span<const double> r, double second_order, std::span<double> dz, std::span<double> ds) {
    (void)second_order;
    solve(r, dz, ds);
  }
  /// Keeps y as the point that steps start from.
  virtual void save() = 0;
  /// y = the kept one, moved by a Δy.
  virtual void advance(double a) = 0;
  /// All of y as numbers, and back (`NcpSolver::follow`).
  virtual void write(std::vector<double>& y) const = 0;
  virtual void read(const std::vector<double>& y) = 0;
};

struct NcpResult {
  NcpStatus status = NcpStatus::solved;
  int iterations = 0;
  /// The norms at the end, and the mean product.
  double equalities = 0.0;
  double complementarity = 0.0;
  double nu = 0.0;
};

/// Memory of solves. One per thread.
class NcpSolver {
 public:
  /// From the problem's iterate, z and s inside their cones.
  NcpResult solve(NcpProblem& problem, const NcpOptions& options);
  /// To another κ, from a solution: the same with few iterations.
  NcpResult continue_to(double kappa, NcpProblem& problem, NcpOptions options);
  /// Along the central path z ∘ s = μ e from μ = `from` to κ, around its turns (ncp_path.cpp): for what has several
  /// solutions, where `solve` jams. f must not depend on μ. Gives up after `max_iterations` in all, or what it is at
  /// takes.
  NcpResult follow(double from, NcpProblem& problem, const NcpOptions& options);
  /// After it has failed: to the point of the smallest μ that it found. Answers with that μ; 0 if there was none.
  double go_to_lowest(NcpProblem& problem);

 private:
  /// State of `follow`.
  struct Path {
    void resize(std::size_t size);
    // the last point
    std::vector<double> y;
    std::vector<double> z;
    std::vector<double> s;
    double mu = 0.0;
    // that of the smallest μ
    std::vector<double> y_lowest;
    std::vector<double> z_lowest;
    std::vector<double> s_lowest;
    double mu_lowest = 0.0;
    // the direction there
    std::vector<double> z_along;
    std::vector<double> s_along;
    double mu_along = 0.0;
    std::vector<double> z_size;
    std::vector<double> s_size;
    std::vector<double> z_newton;
    std::vector<double> s_newton;
  };
  void aim(NcpProblem& problem, double target);
  double go(NcpProblem& problem);
  void go_to(NcpProblem& problem, const std::vector<double>& y, const std::vector<double>& z,
             const std::vector<double>& s);
  void keep_point(NcpProblem& problem, double mu);
  void find_direction(NcpProblem& problem, double mu);
  void measure();
  [[nodiscard]] double along_path(const std::vector<double>& dz, const std::vector<double>& ds) const;
  /// Onto the path, to a tolerance as a part of μ. False if steps lead away.
  bool correct(NcpProblem& problem, double tolerance, double& mu, int& iterations);

  double set_target(double target, double second_order);
  [[nodiscard]] double complementarity(double kappa) const;
  [[nodiscard]] double mean_product() const;
  [[nodiscard]] double largest_step(double cap) const;
  [[nodiscard]] double product_after(double a) const;
  [[nodiscard]] bool lift(double nu);
  void move(NcpProblem& problem, double a);
  void bind(NcpProblem& problem);

  std::span<const NcpCone> cones_;
  std::span<double> z_;
  std::span<double> s_;
  int degree_ = 0;
  std::vector<double> r_;
  std::vector<double> dz_;
  std::vector<double> ds_;
  std::vector<double> z_saved_;
  std::vector<double> s_saved_;
  Path path_;
};

}  // namespace tangere
