#pragma once

/// A problem as rows per knot, and their values and derivatives along a trajectory.

#include <span>
#include <vector>

#include "tangere/solvers/riccati.hpp"
#include "tangere/trajopt/problem.hpp"

namespace tangere::internal {

/// Which rows of a knot belong to which term.
struct TermRows {
  const Term* term = nullptr;
  int first = 0;
  int size = 0;
};

struct KnotLayout {
  std::vector<TermRows> costs;
  std::vector<TermRows> equalities;
  std::vector<TermRows> inequalities;
  int num_costs = 0;
  int num_equalities = 0;
  int num_inequalities = 0;
  /// The weights of the costs, with time steps.
  VectorX weight;
  double time = 0.0;
  double time_step = 0.0;
};

/// A knot of a trajectory: state, control, values of all rows, slacks, and the defect f(x, u) ⊖ x of the next knot.
struct KnotPoint {
  VectorX x;
  VectorX u;
  VectorX defect;
  VectorX r;
  VectorX c;
  VectorX h;
  VectorX s;
};

/// Jacobians of a knot's rows over (dx, du), row after row, and its multipliers.
struct KnotLinear {
  RowMatrixX r;
  RowMatrixX c;
  RowMatrixX h;
  VectorX lambda;
  VectorX z;
};

/// The place of a value that is not finite.
struct Place {
  int knot = -1;
  std::string name{};
  [[nodiscard]] bool found() const { return knot >= 0; }
};

class Transcription {
 public:
  explicit Transcription(const OptimalControl& problem);

  [[nodiscard]] const KnotLayout& at(int knot) const { return knots_[knot]; }
  [[nodiscard]] int num_knots() const { return static_cast<int>(knots_.size()); }
  void resize(std::vector<KnotPoint>& points) const;
  void resize(std::vector<KnotLinear>& linear) const;

  /// All rows at the states and controls of `points`. False where one is not finite.
  [[nodiscard]] bool evaluate(std::vector<KnotPoint>& points, KnotMemory& memory) const;
  /// Their Jacobians. The place of the first one that is not finite is left in `bad`.
  [[nodiscard]] bool linearise(std::vector<KnotPoint>& points, std::vector<KnotLinear>& linear, KnotMemory& memory,
                               Place& bad) const;
  /// The first row that is not finite.
  [[nodiscard]] Place not_finite(const std::vector<KnotPoint>& points) const;
  /// The constraint that is violated most, and by how much.
  [[nodiscard]] Place worst(const std::vector<KnotPoint>& points, double& violation) const;

 private:
  [[nodiscard]] Knot knot_at(int k, const KnotPoint& point, KnotMemory& memory) const;

  const OptimalControl* problem_;
  std::vector<KnotLayout> knots_;
};

}  // namespace tangere::internal
