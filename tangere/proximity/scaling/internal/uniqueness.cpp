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

#include "tangere/proximity/batch/internal/conic_batch.hpp"
#include "tangere/proximity/scaling/internal/scaling_workspace.hpp"

namespace tangere {
namespace {

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

/// Sizes at the solution: multipliers in units of 1 / reach, slacks in units of alpha reach.
struct Measure {
  double reach;
  double alpha;
  double threshold;
  [[nodiscard]] bool acts(double z) const { return z * reach > threshold; }
  [[nodiscard]] bool vanishes(double s) const { return s < threshold * alpha * reach; }
};

/// Rows, slacks and multipliers of a block of the engine.
struct BlockRows {
  const ConicBlock<1>& b;
  [[nodiscard]] int num_aux() const { return b.rows.num_aux; }
  [[nodiscard]] int num_orthant() const { return b.rows.num_orthant; }
  [[nodiscard]] int num_cones() const { return b.rows.num_cones; }
  [[nodiscard]] double z(int i) const { return b.z[i]; }
  [[nodiscard]] double u(int i, int a) const { return b.rows.orthant_rows_u[kShared * i + a]; }
  [[nodiscard]] double y(int i, int j) const { return b.rows.orthant_rows_y[b.rows.num_aux * i + j]; }
  [[nodiscard]] Vec4 cone_s(int k) const { return b.cones[k].s.v[0]; }
  [[nodiscard]] double cone_z(int k) const { return b.cones[k].z.head(); }
  [[nodiscard]] Vec4 cone_u(int k, int a) const { return load4(b.rows.cone_u + 4 * (kShared * k + a)); }
  [[nodiscard]] Vec4 cone_y(int k, int j) const { return load4(b.rows.cone_y + 4 * (b.rows.num_aux * k + j)); }
};
/// The same of one lane. (Padding rows have z = 0: they never act.)
struct LaneRows {
  const LaneBlock& b;
  int lane;
  [[nodiscard]] Vec4 vector(const LaneVector& v) const { return Vec4{v[0][lane], v[1][lane], v[2][lane], v[3][lane]}; }
  [[nodiscard]] int num_aux() const { return b.num_aux; }
  [[nodiscard]] int num_orthant() const { return b.num_orthant; }
  [[nodiscard]] int num_cones() const { return b.num_cones; }
  [[nodiscard]] double z(int i) const { return b.rows[b.stride() * i + kRowZ][lane]; }
  [[nodiscard]] double u(int i, int a) const { return b.rows[b.stride() * i + kRowU + a][lane]; }
  [[nodiscard]] double y(int i, int j) const { return b.rows[b.stride() * i + kRowY + j][lane]; }
  [[nodiscard]] Vec4 cone_s(int k) const { return vector(b.cones[k].s); }
  [[nodiscard]] double cone_z(int k) const { return b.cones[k].z[0][lane]; }
  [[nodiscard]] Vec4 cone_u(int k, int a) const { return vector(b.cones[k].column[a]); }
  [[nodiscard]] Vec4 cone_y(int k, int j) const { return vector(b.cone_y[b.num_aux * k + j]); }
};

/// Calls condition(row) and gradient(row) for the active constraints of a block.
template <class Rows, class Condition, class Gradient>
void for_active(const Rows& rows, const Measure& measure, double size, Condition condition, Gradient gradient) {
  const int ny = rows.num_aux();
  Row row;
  // orthant
  for (int i = 0; i < rows.num_orthant(); ++i) {
    if (!measure.acts(rows.z(i))) continue;
    for (int a = 0; a < kShared; ++a) row.u[a] = rows.u(i, a);
    for (int j = 0; j < ny; ++j) row.y[j] = rows.y(i, j);
    row.u[3] /= size;
    condition(row);
    gradient(row);
  }
  // cones: Σ weight_i (row i of S)
  for (int k = 0; k < rows.num_cones(); ++k) {
    if (!measure.acts(rows.cone_z(k))) continue;
    const Vec4 s = rows.cone_s(k);
    const auto combination = [&](Vec4 weight) {
      for (int a = 0; a < kShared; ++a) row.u[a] = dot(rows.cone_u(k, a), weight);
      for (int j = 0; j < ny; ++j) row.y[j] = dot(rows.cone_y(k, j), weight);
      row.u[3] /= size;
    };
    const bool apex = measure.vanishes(s[0]);
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
      combination(s * Vec4{1, -1, -1, -1});
      gradient(row);
    }
  }
}

/// A solution as `freedom` looks at it.
template <class Rows>
struct Solution {
  Rows rows[2];
  double size[2];
  Measure measure;
};

Measure measure_of(double alpha, double length, double gap, double degree) {
  return {.reach = length / alpha, .alpha = alpha, .threshold = std::sqrt(gap / (alpha * degree))};
}

/// With rows of at most 4 Chunks columns; `basis` has room for four lists of them.
template <int Chunks, class Rows>
Freedom count(const Solution<Rows>& at, ConeVector<Chunks>* basis) {
  constexpr int kList = 4 * Chunks;
  const double least_size = std::min(at.size[0], at.size[1]);
  const int ny[2] = {at.rows[0].num_aux(), at.rows[1].num_aux()};
  const int num_aux = ny[0] + ny[1];
  RankCounter<Chunks> point(basis, 3 + num_aux);
  RankCounter<Chunks> both(basis + kList, kShared + num_aux);
  RankCounter<Chunks> auxiliaries(basis + 2 * kList, num_aux);
  int separate = 0;
  for (int k = 0; k < 2; ++k) {
    const int own = k == 0 ? 0 : ny[0];
    RankCounter<Chunks> single(basis + 3 * kList, kShared + ny[k]);
    for_active(
        at.rows[k], at.measure, std::min(at.size[k], 1e3 * least_size),
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
template <class Rows>
bool round(const Rows& rows) {
  return rows.num_cones() == 1 && rows.num_orthant() == 0 && rows.num_aux() == 0;
}

template <class Rows>
Freedom freedom(const Solution<Rows>& at, RankStorage& storage) {
  const int columns = kShared + at.rows[0].num_aux() + at.rows[1].num_aux();
  if (columns <= 4) {
    ConeVector<1> basis[4 * 4];
    return count<1>(at, basis);
  }
  if (columns <= 12) {
    ConeVector<3> basis[4 * 12];
    return count<3>(at, basis);
  }
  constexpr int kChunks = kMaxColumns / 4;
  static_assert(kMaxColumns % 4 == 0);
  storage.resize(std::size_t{4} * kMaxColumns * kMaxColumns);
  return count<kChunks>(at, reinterpret_cast<ConeVector<kChunks>*>(storage.data()));
}

}  // namespace

Freedom freedom(const SolvedPair& pair, RankStorage& storage) {
  const ConicEngine<1>& engine = pair.program.engine;
  const BlockRows A{engine.blocks[0]};
  const BlockRows B{engine.blocks[1]};
  if (round(A) || round(B)) return {};
  return freedom(Solution<BlockRows>{.rows = {A, B},
                                     .size = {pair.part_A.set->outer_radius, pair.part_B.set->outer_radius},
                                     .measure = measure_of(engine.u[3], engine.dual_scale[0], engine.gap,
                                                           static_cast<double>(engine.degree()))},
                 storage);
}

Freedom freedom(const ConicLanes& lanes, int lane, const ConvexSet& A, const ConvexSet& B, RankStorage& storage) {
  const LaneRows rows_A{lanes.blocks[0], lane};
  const LaneRows rows_B{lanes.blocks[1], lane};
  if (round(rows_A) || round(rows_B)) return {};
  return freedom(Solution<LaneRows>{.rows = {rows_A, rows_B},
                                    .size = {A.outer_radius, B.outer_radius},
                                    .measure = measure_of(lanes.u[3][lane], lanes.dual_scale[lane], lanes.gap[lane],
                                                          lanes.degree[lane])},
                 storage);
}

}  // namespace tangere
