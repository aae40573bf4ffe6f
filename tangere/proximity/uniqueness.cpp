/// How unique a solution is, from the constraints that are active there.
///
/// At a central point every s ∘ z is mu e: what is active has a multiplier of order 1, what is idle one of order mu,
/// and √mu divides them. A cone is idle, on its boundary (s and z on opposite rays), or at its apex (s = 0). With x
/// moving by dx and the auxiliaries by dy at fixed alpha, the solution stays optimal if
///
///   active row:  row · (dx, dy) = 0,      boundary:  S (dx, dy) ∥ s,      apex:  S (dx, dy) = 0
///
/// so the optimal points have dimension 3 - (rank C - rank C_y), C being these conditions and C_y their columns of y.
/// The multipliers can change only along the gradients of active constraints, G_A and G_B over all variables; what they
/// leave of the normal has dimension rank G_A + rank G_B - rank [G_A; G_B].

#include <algorithm>
#include <cmath>

#include "tangere/proximity/scaling_workspace.hpp"

namespace tangere {
namespace {

/// Directions nearer than this (radians) count as parallel.
constexpr double kParallel = 1e-6;

constexpr int kMaxColumns = kShared + 2 * kMaxAux;

/// Rank of a growing list of rows of at most 4 Chunks numbers, by Gram–Schmidt; the orthonormal rows are kept in
/// `basis`.
template <int Chunks>
class RankCounter {
 public:
  using Row = ConeVector<Chunks>;

  RankCounter(Row* basis, int num_columns) : basis_(basis), columns_(num_columns) {}

  /// Keeps the row if it is independent of those before.
  void add(Row row) {
    if (rank_ == columns_) return;
    const double before = std::sqrt(dot(row, row));
    if (!(before > 0.0)) return;
    // once more where much was taken off
    double left = before;
    for (int pass = 0; pass < 2; ++pass) {
      const double start = left;
      for (int k = 0; k < rank_; ++k) row = row - dot(row, basis_[k]) * basis_[k];
      left = std::sqrt(dot(row, row));
      if (left > 0.1 * start) break;
    }
    if (!(left > kParallel * before)) return;
    basis_[rank_++] = (1.0 / left) * row;
  }
  [[nodiscard]] int rank() const { return rank_; }

 private:
  Row* basis_;
  int columns_;
  int rank_ = 0;
};

/// A row from pieces: `first` at 0, `second` at `at`.
template <int Chunks>
ConeVector<Chunks> joined(const double* first, int num_first, const double* second, int num_second, int at) {
  alignas(32) double values[4 * Chunks] = {};
  for (int i = 0; i < num_first; ++i) values[i] = first[i];
  for (int i = 0; i < num_second; ++i) values[at + i] = second[i];
  ConeVector<Chunks> row;
  for (int k = 0; k < Chunks; ++k) row.v[k] = load4(values + 4 * k);
  return row;
}

/// A row over the shared variables and the own ones of a block, alpha in units of the shape's size.
struct Row {
  double u[kShared];
  double y[kMaxAux];
};

/// What is large and what is small at the solution: multipliers in units of 1 / reach, slacks in units of alpha reach.
struct Measure {
  double reach;
  double alpha;
  double threshold;
  [[nodiscard]] bool acts(double z) const { return z * reach > threshold; }
  [[nodiscard]] bool vanishes(double s) const { return s < threshold * alpha * reach; }
};

/// Calls condition(row) and gradient(row) for the active constraints of a block.
template <class Condition, class Gradient>
void for_active(const ConicBlock<1>& b, const Measure& measure, double size, Condition condition, Gradient gradient) {
  const int ny = b.rows.num_aux;
  Row row;
  // orthant
  for (int i = 0; i < b.rows.num_orthant; ++i) {
    if (!measure.acts(b.z[i])) continue;
    for (int a = 0; a < kShared; ++a) row.u[a] = b.rows.orthant_rows_u[kShared * i + a];
    for (int j = 0; j < ny; ++j) row.y[j] = b.rows.orthant_rows_y[ny * i + j];
    row.u[3] /= size;
    condition(row);
    gradient(row);
  }
  // cones: Σ weight_i (row i of S)
  for (int k = 0; k < b.rows.num_cones; ++k) {
    const ConeState<1>& cone = b.cones[k];
    if (!measure.acts(cone.z.head())) continue;
    const auto combination = [&](Vec4 weight) {
      for (int a = 0; a < kShared; ++a) row.u[a] = dot(load4(b.rows.cone_u + 4 * (kShared * k + a)), weight);
      for (int j = 0; j < ny; ++j) row.y[j] = dot(load4(b.rows.cone_y + 4 * (ny * k + j)), weight);
      row.u[3] /= size;
    };
    const bool apex = measure.vanishes(cone.s.head());
    const Vec4 s = cone.s.v[0];
    const Vec4 along = s / std::sqrt(dot(s, s));
    for (int i = 0; i < 4; ++i) {
      Vec4 weight{};
      weight[i] = 1.0;
      if (!apex) weight -= along[i] * along;
      combination(weight);
      condition(row);
      if (apex) gradient(row);
    }
    if (!apex) {
      combination(reflect(cone.s).v[0]);
      gradient(row);
    }
  }
}

/// With rows of at most 4 Chunks columns; `basis` has room for four lists of them.
template <int Chunks>
Freedom count(const SolvedPair& pair, ConeVector<Chunks>* basis) {
  constexpr int kList = 4 * Chunks;
  const ConicEngine<1>& engine = pair.program.engine;
  const ConicBlock<1>* blocks = engine.blocks;
  const double alpha = engine.u[3];
  const double size[2] = {pair.part_A.set->outer_radius, pair.part_B.set->outer_radius};
  const double least_size = std::min(size[0], size[1]);
  const int ny[2] = {blocks[0].rows.num_aux, blocks[1].rows.num_aux};
  const int num_aux = ny[0] + ny[1];
  const Measure measure{.reach = engine.dual_scale[0] / alpha,
                        .alpha = alpha,
                        .threshold = std::sqrt(engine.gap / (alpha * engine.degree()))};
  RankCounter<Chunks> point(basis, 3 + num_aux);
  RankCounter<Chunks> both(basis + kList, kShared + num_aux);
  RankCounter<Chunks> auxiliaries(basis + 2 * kList, num_aux);
  int separate = 0;
  for (int k = 0; k < 2; ++k) {
    const int own = k == 0 ? 0 : ny[0];
    RankCounter<Chunks> single(basis + 3 * kList, kShared + ny[k]);
    for_active(
        blocks[k], measure, std::min(size[k], 1e3 * least_size),
        [&](const Row& row) {
          point.add(joined<Chunks>(row.u, 3, row.y, ny[k], 3 + own));
          if (num_aux > 0) auxiliaries.add(joined<Chunks>(row.y, 0, row.y, ny[k], own));
        },
        [&](const Row& row) {
          single.add(joined<Chunks>(row.u, kShared, row.y, ny[k], kShared));
          both.add(joined<Chunks>(row.u, kShared, row.y, ny[k], kShared + own));
        });
    separate += single.rank();
  }
  return {.point = std::clamp(3 - (point.rank() - auxiliaries.rank()), 0, 2),
          .normal = std::clamp(separate - both.rank(), 0, 2)};
}

/// A body bounded by one cone and nothing else (sphere, ellipsoid) is smooth and strictly convex: point and normal are
/// unique.
bool round(const ConicBlock<1>& b) { return b.rows.num_cones == 1 && b.rows.num_orthant == 0 && b.rows.num_aux == 0; }

}  // namespace

Freedom freedom(const SolvedPair& pair, RankStorage& storage) {
  const ConicBlock<1>* blocks = pair.program.engine.blocks;
  if (round(blocks[0]) || round(blocks[1])) return {};
  const int columns = kShared + blocks[0].rows.num_aux + blocks[1].rows.num_aux;
  if (columns <= 4) {
    ConeVector<1> basis[4 * 4];
    return count<1>(pair, basis);
  }
  if (columns <= 12) {
    ConeVector<3> basis[4 * 12];
    return count<3>(pair, basis);
  }
  constexpr int kChunks = kMaxColumns / 4;
  static_assert(kMaxColumns % 4 == 0);
  storage.resize(std::size_t{4} * kMaxColumns * kMaxColumns);
  return count<kChunks>(pair, reinterpret_cast<ConeVector<kChunks>*>(storage.data()));
}

}  // namespace tangere
