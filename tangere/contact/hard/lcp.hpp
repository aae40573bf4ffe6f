#pragma once

/// Hard contact: the rows of a step as one boxed linear complementarity problem, island by island.
///
///   A = J M⁻¹ Jᵀ,   b = J v_free − target,   v⁺ = v_free + M⁻¹ Jᵀ f
///
/// An island is a set of trees that rows hold together; islands do not see each other, and each is solved alone. Small
/// ones by their matrix A, large ones by its parts (sparse_island.hpp): the same problem, and the same answer but for
/// rounding.
///
/// Newton's restitution and friction together can ask for more energy than an oblique impact has (Kane's paradox). An
/// island that would gain some keeps only so much of its restitution that it gains none: the rows bounce with s e, s
/// the largest found between 0 and 1. With s = 0 energy never grows.

#include <array>
#include <limits>
#include <vector>

#include "tangere/contact/hard/problem.hpp"
#include "tangere/contact/hard/sparse_island.hpp"
#include "tangere/math/aligned.hpp"
#include "tangere/math/scratch_matrix.hpp"

namespace tangere {

struct LcpSolution {
  /// Impulses and velocities less their targets, one a row.
  ScratchVector f;
  ScratchVector w;
  std::vector<RowSet> sets;
  VectorX v_plus;
  /// `approximate` if any island is; the largest residual.
  BoxedLcpStatus status = BoxedLcpStatus::solved;
  double residual = 0.0;
  /// How far the nearest row is from another set, relative to the largest impulse: forces from their bounds, velocities
  /// of rows at a bound by the impulse that would stop them. 0 is a tie, where derivatives have two sides.
  double margin = std::numeric_limits<double>::infinity();
  int num_islands = 0;
  /// The smallest part of its restitution that an island keeps (1: all do), and for every coordinate which of
  /// those that do not keep all its tree belongs to (1, 2, …; 0: to none; empty if there are none).
  double restitution_kept = 1.0;
  std::vector<int> short_of_energy;
  /// How far the nearest island that bounces is from keeping all of its restitution, or no longer all: the energy it
  /// loses over what its impulses turn over, or 1 − s. 0 is a tie. Infinite where an impact cannot gain energy.
  double energy_margin = std::numeric_limits<double>::infinity();
  /// How many islands each stage has solved.
  std::array<int, kNumBoxedLcpStages> stages{};
};

/// The start of a solve: the rows of the last one and their sets.
struct LcpWarmStart {
  std::vector<RowKey> keys;
  std::vector<RowSet> sets;

  void clear() {
    keys.clear();
    sets.clear();
  }
};

/// Memory, and the sets of the last step to start from. One per thread.
class LcpContact {
 public:
  explicit LcpContact(const Model& model);

  /// `data` has the factors of M; `v_free` is where the smooth dynamics alone would go. The problem afterwards is the
  /// one that was solved: rows that were answered without compliance (Redundancy::least_squares) have none,
  /// penetrations that are not taken back have no target, and restitution is what is kept of it.
  const LcpSolution& solve(const Model& model, const Data& data, ContactProblem& problem, VectorArgument v_free,
                           const BoxedLcpOptions& options);
  /// The start of the next solve; may be set, and emptied to start cold.
  [[nodiscard]] LcpWarmStart& warm_start() { return last_; }
  [[nodiscard]] const LcpWarmStart& warm_start() const { return last_; }

 private:
  void guess_sets(const ContactProblem& problem, VectorArgument v_free);
  int find_islands(const Model& model, const ContactProblem& problem);
  int root(int tree);
  using MatrixMap = Eigen::Map<const MatrixX, 0, Eigen::OuterStride<>>;
  void gather_rows(const ContactProblem& problem, int island);
  void gather_boxes(const ContactProblem& problem, VectorArgument v_free);
  template <class Diagonal>
  void drop_heavy_corrections(const Diagonal& diagonal, ContactProblem& problem);
  /// Answer for the rows of the island being solved; it lies in the solver's memory, or in f_ and w_.
  struct Answer {
    const BoxedLcpSolution& solved;
    const double* f;
    const double* w;
    bool least_squares = false;
  };
  template <class Matrix>
  Answer solve_once(const Matrix& A, const ContactProblem& problem, const BoxedLcpOptions& options);
  /// Relative gain of kinetic energy: what the island's impulses add, divided by what they exchange.
  [[nodiscard]] double gained_energy(const ContactProblem& problem, const Answer& answer) const;
  [[nodiscard]] bool may_gain(const ContactProblem& problem, const Answer& answer) const;
  void keep_restitution(double part, ContactProblem& problem);
  void mark_short_of_energy(const Model& model, const ContactProblem& problem, double kept);
  template <class Matrix>
  Answer solve_boxes(const Model& model, const Matrix& A, ContactProblem& problem, const BoxedLcpOptions& options);
  MatrixMap fill_matrix(const Model& model, const Data& data, const ContactProblem& problem);
  void solve_few(const Model& model, const Data& data, ContactProblem& problem, const BoxedLcpOptions& options);
  void solve_many(const Model& model, const Data& data, ContactProblem& problem, const BoxedLcpOptions& options);
  template <class Diagonal>
  void keep(const ContactProblem& problem, const BoxedLcpSolution& solved, VectorArgument f, VectorArgument w,
            const Diagonal& diagonal);

  LcpSolution solution_;
  BoxedLcpSolver solver_;
  SparseIsland sparse_;
  LcpWarmStart last_;
  std::vector<RowSet> guess_;
  /// By tree (first coordinate of its root), and by row.
  std::vector<int> tree_of_dof_;
  std::vector<int> parent_;
  std::vector<int> island_of_row_;
  std::vector<int> rows_;
  std::vector<int> local_;
  std::vector<BoxedLcpRow> boxes_;
  std::vector<RowSet> sets_;
  /// Targets of the island's rows with full restitution; 0 for rows that do not bounce.
  std::vector<double> bounce_targets_;
  VectorX f_;
  VectorX w_;
  AlignedVector MinvJt_;
  AlignedVector A_;
  AlignedVector b_;
};

}  // namespace tangere
