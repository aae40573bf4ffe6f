#pragma once

/// Shared data of the methods of boxed_lcp.hpp: the current problem, the candidate, the best so far, and their memory.
/// Private to the solvers.
///
/// A candidate is f with the sets it comes from. Each method makes sets, `set_newton` makes candidates of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tangere/math/aligned.hpp"
#include "tangere/solvers/lcp/boxed_lcp.hpp"
#include "tangere/solvers/lcp/boxed_lcp_factor.hpp"
#include "tangere/solvers/lcp/internal/block_lu.hpp"
#include "tangere/solvers/lcp/sparse_rows.hpp"

namespace tangere {

/// Compliance for pivoting and penalties: redundant rows defeat them at less.
inline constexpr double kSearchCompliance = 1e-6;

/// Accuracy of systems of many rows: of candidates, and along Lemke's path.
inline constexpr double kFullAccuracy = 1e-14;
inline constexpr double kPathAccuracy = 1e-9;

struct LcpBounds {
  double lower;
  double upper;

  [[nodiscard]] double clamp(double f) const { return std::min(std::max(f, lower), upper); }
  [[nodiscard]] RowSet set_of(double f) const {
    return f <= lower ? RowSet::lower : f >= upper ? RowSet::upper : RowSet::clamped;
  }
};

struct BoxedLcpSolver::Data {
  // ---- the problem, for the length of a solve
  int n = 0;
  /// A, or its parts (the other one is null).
  const SparseRows* sparse = nullptr;
  const double* A = nullptr;
  Eigen::Index stride = 0;
  const double* b = nullptr;
  std::span<const BoxedLcpRow> rows;
  /// C as asked for, C of the search (at least kSearchCompliance of the diagonal), and the one in use.
  AlignedVector asked, search;
  const double* soft = nullptr;
  bool search_is_asked = false;
  double tolerance = 0.0;
  /// diag(A), its inverse, and max |b_i / A_ii|.
  AlignedVector d, inverse_d;
  double b_scale = 0.0;

  // ---- the candidate: f of `sets`, w = A f + b, and the sets that its projection is on
  AlignedVector f, w;
  std::vector<RowSet> sets, next;

  // ---- the best so far
  AlignedVector best_f, best_w;
  std::vector<RowSet> best_sets;
  double best_residual = 0.0;
  BoxedLcpStage best_stage = BoxedLcpStage::none;

  // ---- the system of the clamped rows
  struct Coupled {
    int row;
    /// Its force over its normal force.
    double ratio;
  };
  RowSystem system;
  /// The clamped rows, where each row is among them (-1: not), and the sliding rows whose normal is clamped.
  std::vector<int> clamped, position;
  std::vector<Coupled> coupled;
  AlignedVector right, pivot_scale;
  const double* factored_softness = nullptr;
  /// By coordinates, where A is given by its parts.
  BlockLu lu;
  AlignedVector body_vector, left, asked_right, change, clamped_stiffness, spread_force;
  /// A row's addition to K, jᵀ (own j + shared j_normal): as wanted, and as in the updated factors.
  struct Stiffness {
    double own = 0.0;
    double shared = 0.0;
    bool operator==(const Stiffness&) const = default;
  };
  std::vector<Stiffness> stiffness, factored_stiffness;
  bool has_factors = false;
  /// Changes since K was factored, what each moves (Y), and I + Vᵀ Y with its factors.
  struct Update {
    int row;
    double own;
    double shared;
  };
  std::vector<Update> updates;
  std::vector<int> changed_rows;
  AlignedVector responses, capacitance, capacitance_lu, weights;
  std::vector<int> capacitance_pivots;
  /// Largest residual of solutions, relative to the largest force.
  double accuracy = kFullAccuracy;
  int factorisations = 0;
  /// Σ m³ of their sizes.
  double work = 0.0;

  // ---- the box problem with frozen bounds, of the primal Newton method and of Dantzig's
  AlignedVector lower, upper;
  AlignedVector g, w_g, target, w_target, h;
  std::vector<RowSet> box_sets;

  // ---- the interior point: slacks and multipliers of the lower and the upper bounds, and their steps
  AlignedVector side_slack[2], side_dual[2], slack_step[2], dual_step[2], second_order[2];
  // where its path turns: the tangent, and the last point that was on it
  struct InteriorPoint {
    AlignedVector force, slack[2], dual[2];
  };
  InteriorPoint tangent, kept;

  // ---- Lemke's path: b + τ cover, and the slopes of f and w
  AlignedVector cover, b_path, df, dw;

  BoxedLcpSolution solution;

  // ---- boxed_lcp.cpp
  /// Takes the problem, or throws InputError.
  void read(const Eigen::Ref<const VectorX>& vector, std::span<const BoxedLcpRow> rows_now,
            const BoxedLcpOptions& options, std::span<const RowSet> previous);
  void read_matrix(const Eigen::Ref<const MatrixX>& matrix);
  void read_parts(const SparseRows& parts);
  /// After d.
  void read_scales(const BoxedLcpOptions& options);
  void resize(int rows_now);
  /// The chain, or one method of it; leaves the answer in best_….
  void run(std::span<const RowSet> previous, BoxedLcpStage only);
  void run_only(BoxedLcpStage stage);
  /// `lag_bounds` from a few Gauss–Seidel sweeps.
  using BoxMethod = void (Data::*)(const double* softness);
  [[nodiscard]] bool from_sweeps(BoxMethod method, int rounds, BoxedLcpStage stage);
  /// True, with the answer, if no force is needed at all.
  [[nodiscard]] bool rests();
  /// `sets` of a cold start.
  void guess_sets();
  /// Into the bounds, normals first.
  void project(double* force) const;
  /// The better of the best candidate, projected, and of Gauss–Seidel sweeps.
  void give_up();
  /// Forces exactly inside their bounds, ties resolved; fills the answer.
  [[nodiscard]] const BoxedLcpSolution& answer();

  [[nodiscard]] const double* column(int j) const { return A + stride * j; }
  [[nodiscard]] LcpBounds bounds(int i, const double* force) const;
  /// A f, and A f + b.
  void multiply(const double* force, double* velocity);
  void multiply_add(const double* force, double* velocity);

  // ---- boxed_lcp_sets.cpp
  /// f of `sets`: clamped rows with w + C f = 0, the others at bounds that follow f. False if singular.
  [[nodiscard]] bool solve_sets();
  /// Its parts: `clamped` and `coupled` of `sets`, and the forces at constant bounds; then, with the factors, the
  /// others.
  void read_sets();
  [[nodiscard]] bool solve_forces();
  /// `force` holds the bounded rows that are not coupled; fills in the clamped ones, by the factors.
  [[nodiscard]] bool solve_clamped(double* force);
  /// The system of `clamped` and `coupled`, and its solution for one right side (in place, one number a clamped row).
  [[nodiscard]] bool factor_clamped(const double* softness);
  [[nodiscard]] bool factor_dense(const double* softness);
  /// Counts the cost of a factorisation of the size in hand. False if too much has been spent.
  [[nodiscard]] bool may_spend();
  [[nodiscard]] bool solve_factored(double* x);
  /// max |f - projection(f - w' / d)| over its scale; fills `next`. Infinite if anything is not finite.
  [[nodiscard]] double assess();
  /// Solves for the sets, verifies, and moves on to the sets of the projection, up to `steps` times. True if solved.
  [[nodiscard]] bool set_newton(int steps, BoxedLcpStage stage);
  /// Keeps the candidate if it is better.
  void offer(double residual, BoxedLcpStage stage);

  // ---- boxed_lcp_sparse.cpp
  void connect_nodes();
  void add_stiffness(int i, int j, double factor);
  void reserve_bodies();
  void set_stiffness(const double* softness);
  [[nodiscard]] bool factor_sparse(const double* softness);
  [[nodiscard]] bool factor_bodies();
  [[nodiscard]] bool update_factors();
  [[nodiscard]] double along_update(const Update& update, const double* x) const;
  [[nodiscard]] double* response(std::size_t k);
  void add_update(const Update& update);
  void solve_bodies(double* x);
  [[nodiscard]] bool solve_sparse(const double* softness, double* x);
  [[nodiscard]] bool improve(const double* softness, double* x);
  /// Forces of all rows of those of the clamped ones, the others zero.
  void spread(const double* clamped_force, double* force) const;
  /// Cost of a factorisation, in the units of the work.
  [[nodiscard]] double sparse_cost() const { return 200.0 * lu.num_blocks(); }

  // ---- boxed_lcp_interior.cpp
  /// For A given by its parts. True if solved.
  [[nodiscard]] bool interior_point();
  [[nodiscard]] bool follow_interior(double scale, bool careful);
  /// Reads the sets and tries them. True if solved; else all is as it was.
  [[nodiscard]] bool try_interior_sets();
  /// A part of the steps.
  void move_interior(double length);
  [[nodiscard]] double largest_force() const;
  [[nodiscard]] bool interior_step(double gap, bool careful);
  void reserve_interior();
  void start_interior(double scale);
  void set_interior_stiffness();
  void interior_direction(double kappa, bool corrected);
  [[nodiscard]] double interior_length() const;
  struct Products {
    double mean = 0.0;
    double least = std::numeric_limits<double>::infinity();
  };
  [[nodiscard]] Products interior_products(double length) const;
  /// `sets` of the bounds that are met.
  void interior_sets();
  /// Whether there is a bound on this side (0 lower, 1 upper), and whether there is no room between the two.
  [[nodiscard]] bool is_bounded(int i, int side) const;
  [[nodiscard]] bool is_fixed(int i) const;

  // ---- boxed_lcp_turns.cpp
  /// The path from a start, in steps that change values by up to a part of them. True if solved.
  [[nodiscard]] bool follow_turns(double scale, double longest, int most_steps);
  void set_tangent(double kappa);
  /// Towards the path, and `reach` along it. The part of the step that there was room for.
  [[nodiscard]] double turning_step(double& kappa, double reach);
  [[nodiscard]] double away_from_path(double kappa) const;
  void keep_interior();
  void restore_interior();

  // ---- boxed_lcp_newton.cpp
  /// Rounds of a method for the box problem (below) and of lagged bounds, from those of `g`. True if solved.
  [[nodiscard]] bool lag_bounds(BoxMethod method, int rounds, BoxedLcpStage stage);
  /// The box problem between `lower` and `upper`: forces, velocities A g + b and sets in `g`, `w_g` and `box_sets`.
  /// Minimises the penalised primal from `g`.
  void minimise_box(const double* softness);
  /// The length of the exact line search from g to target.
  [[nodiscard]] double line_search(const double* softness) const;
  /// Projected Gauss–Seidel on `g`; bounds follow.
  void sweep(int sweeps, bool backwards);
  void sweep_sparse(int sweeps, bool backwards);
  /// One row of a sweep, at this velocity: the change of g[i].
  [[nodiscard]] double relax(int i, double velocity);

  // ---- boxed_lcp_dantzig.cpp
  /// The box problem, row after row.
  void pivot_box(const double* softness);
  [[nodiscard]] int join_row(int i, const double* softness, int pivots);
  [[nodiscard]] bool solve_drive(int i, double direction, const double* softness);
  [[nodiscard]] bool drive_row(int i, double direction);

  // ---- boxed_lcp_lemke.cpp
  /// Lemke's path from the best forces so far, or from where no contact carries. True if solved.
  [[nodiscard]] bool lemke_from_best(int most_pieces);
  /// From f, what is at a bound by its set put there.
  [[nodiscard]] bool lemke_from_sets(int most_pieces);
  [[nodiscard]] bool lemke_from_afar(std::uint64_t seed);
  /// Sets and cover of either start.
  void start_from_best(const double* softness);
  void start_from_forces(const double* softness);
  void start_from_afar(const double* softness, std::uint64_t seed);
  /// From there to τ = 0; leaves its end in `sets`. False if it does not arrive, or goes farther than `farthest`.
  [[nodiscard]] bool follow_path(const double* softness, int most_pieces, double farthest);
  [[nodiscard]] bool follow_pieces(const double* b_asked, int most_pieces, double farthest);
  /// f and w at τ, and their slopes. False if singular.
  [[nodiscard]] bool solve_piece(const double* b_asked, double tau);
  /// Along the piece in hand.
  void advance(double change_of_tau);
};

}  // namespace tangere
