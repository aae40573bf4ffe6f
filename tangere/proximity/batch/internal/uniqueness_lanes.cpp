/// How unique the solutions of all lanes are: the ranks of uniqueness.cpp for kLanes pairs at once.
///
/// Every lane has its own active constraints. Rows are taken as they come, the k-th active one of each lane together; a
/// lane that has none gives zeros, which add nothing to a rank.

#include <algorithm>
#include <bit>
#include <type_traits>

#include "tangere/proximity/batch/internal/conic_batch.hpp"

namespace tangere {
namespace {

/// Pairs with more columns, and lanes with more active rows of one side, are counted one by one.
constexpr int kMostColumns = 12;
constexpr int kMostActive = 16;

/// Rank of a growing list of rows in each lane, by Gram–Schmidt; of as many columns as are said, or of `Columns` if
/// that is not negative.
template <int Columns>
class LaneRank {
 public:
  explicit LaneRank(int num_columns) : num_columns_(num_columns) {}

  /// Keeps the row in the lanes in which it is independent of those before.
  void add(const Lane* row) {
    const int columns = this->columns();
    LaneMask open = rank_ < static_cast<double>(columns);
    if (!any(open)) return;
    Lane r[kRoom];
    for (int c = 0; c < columns; ++c) r[c] = row[c];
    const Lane before = square(r);
    open &= before > 0.0;
    if (!any(open)) return;
    project(r);
    Lane left = square(r);
    // once more where much was taken off
    const LaneMask again = open & ~(left > 0.01 * before);
    if (any(again)) {
      Lane q[kRoom];
      for (int c = 0; c < columns; ++c) q[c] = r[c];
      project(q);
      for (int c = 0; c < columns; ++c) r[c] = select(again, q[c], r[c]);
      left = select(again, square(q), left);
    }
    const LaneMask independent = open & (left > kParallel * kParallel * before);
    if (!any(independent)) return;
    const Lane inverse = 1.0 / left;
    // mostly all lanes have come equally far
    for (int k = 0; k <= used_ && k < columns; ++k) {
      const LaneMask here = independent & (rank_ == static_cast<double>(k));
      if (!any(here)) continue;
      if (k == used_) {
        for (int c = 0; c < columns; ++c) basis_[k][c] = keep(here, r[c]);
        inverse_[k] = keep(here, inverse);
        ++used_;
        break;
      }
      // zero in these lanes before
      for (int c = 0; c < columns; ++c) basis_[k][c] += keep(here, r[c]);
      inverse_[k] += keep(here, inverse);
    }
    rank_ += keep(independent, splat(1.0));
  }
  [[nodiscard]] const Lane& rank() const { return rank_; }

 private:
  static constexpr int kRoom = Columns > 0 ? Columns : kMostColumns;
  [[nodiscard]] int columns() const { return Columns >= 0 ? Columns : num_columns_; }
  [[nodiscard]] Lane square(const Lane* r) const {
    Lane sum{};
    for (int c = 0; c < columns(); ++c) sum += r[c] * r[c];
    return sum;
  }
  void project(Lane* r) const {
    for (int k = 0; k < used_; ++k) {
      Lane t{};
      for (int c = 0; c < columns(); ++c) t += r[c] * basis_[k][c];
      t *= inverse_[k];
      for (int c = 0; c < columns(); ++c) r[c] -= t * basis_[k][c];
    }
  }

  int num_columns_;
  int used_ = 0;
  Lane rank_{};
  /// Orthogonal rows, and one over their squares.
  Lane basis_[kRoom][kRoom];
  Lane inverse_[kRoom];
};

/// Large and small quantities at the solutions, see uniqueness.cpp.
struct LaneMeasure {
  Lane reach;
  Lane threshold;
  Lane vanishing;
};

/// The active orthant rows of one side in every lane, rows over (u, y).
struct ActiveRows {
  int count[kLanes] = {};
  int most = 0;
  /// Lanes with more than there is room for.
  unsigned crowded = 0;
  /// The k-th of every lane; zeros in lanes that have no k-th.
  Lane rows[kMostActive][kMostColumns];

  ActiveRows(const LaneBlock& b, const LaneMeasure& measure, Lane inverse_size) {
    const Lane* from[kMostActive][kLanes];
    const Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += b.stride()) {
      for (unsigned acting = bits(row[kRowZ] * measure.reach > measure.threshold); acting != 0; acting &= acting - 1) {
        const int l = std::countr_zero(acting);
        if (count[l] < kMostActive) {
          from[count[l]++][l] = row;
        } else {
          crowded |= 1U << static_cast<unsigned>(l);
        }
      }
    }
    most = *std::max_element(count, count + kLanes);
    const int ny = b.num_aux;
    for (int k = 0; k < most; ++k) {
      Lane* to = rows[k];
      for (int c = 0; c < kShared + ny; ++c) to[c] = Lane{};
      for (int l = 0; l < kLanes; ++l) {
        if (k >= count[l]) continue;
        // by whole registers: a register does not come soon from memory that was written number by number
        LaneMask only{};
        only[l] = -1;
        for (int a = 0; a < kShared; ++a) to[a] += keep(only, from[k][l][kRowU + a]);
        for (int j = 0; j < ny; ++j) to[kShared + j] += keep(only, from[k][l][kRowY + j]);
      }
      to[3] *= inverse_size;
    }
  }
};

/// The conditions and the gradients of the active constraints of a block, as f(row). A cone on its boundary has the
/// directions across s as conditions and the normal there as gradient; at its apex, all rows are both.
template <class F>
void for_conditions(const LaneBlock& b, const ActiveRows& active, const LaneMeasure& measure, Lane inverse_size, F f) {
  const int columns = kShared + b.num_aux;
  for (int k = 0; k < active.most; ++k) f(active.rows[k]);
  for (int k = 0; k < b.num_cones; ++k) {
    const LaneCone& cone = b.cones[k];
    const LaneMask acts = cone.z[0] * measure.reach > measure.threshold;
    const LaneMask apex = acts & (cone.s[0] < measure.vanishing);
    if (!any(acts)) continue;
    // three independent directions across s: s₀ e_i - s_i e₀
    for (int i = any(apex) ? 0 : 1; i < kShared; ++i) {
      const Lane across = i == 0 ? Lane{} : select(acts & ~apex, cone.s[i], Lane{});
      const Lane straight = select(apex, splat(1.0), i == 0 ? Lane{} : select(acts, cone.s[0], Lane{}));
      Lane row[kMostColumns];
      for (int c = 0; c < columns; ++c) {
        const LaneVector& column = c < kShared ? cone.column[c] : b.cone_y[b.num_aux * k + c - kShared];
        row[c] = straight * column[i] - across * column[0];
      }
      row[3] *= inverse_size;
      f(row);
    }
  }
}
/// Returns the number of gradients in each lane.
template <class F>
Lane for_gradients(const LaneBlock& b, const ActiveRows& active, const LaneMeasure& measure, Lane inverse_size, F f) {
  const int columns = kShared + b.num_aux;
  for (int k = 0; k < active.most; ++k) f(active.rows[k]);
  Lane count;
  for (int l = 0; l < kLanes; ++l) count[l] = static_cast<double>(active.count[l]);
  for (int k = 0; k < b.num_cones; ++k) {
    const LaneCone& cone = b.cones[k];
    const LaneMask acts = cone.z[0] * measure.reach > measure.threshold;
    const LaneMask apex = acts & (cone.s[0] < measure.vanishing);
    if (!any(acts)) continue;
    count += select(apex, splat(4.0), select(acts, splat(1.0), Lane{}));
    for (int i = 0; i < (any(apex) ? kShared : 1); ++i) {
      // the normal first, or one row after the other
      LaneVector weight = i == 0 ? freeze(acts & ~apex, reflect(cone.s), LaneVector{}) : LaneVector{};
      weight[i] = select(apex, splat(1.0), weight[i]);
      Lane row[kMostColumns];
      for (int c = 0; c < columns; ++c) {
        row[c] = dot(weight, c < kShared ? cone.column[c] : b.cone_y[b.num_aux * k + c - kShared]);
      }
      row[3] *= inverse_size;
      f(row);
    }
  }
  return count;
}

bool round(const LaneBlock& b) { return b.num_cones == 1 && b.num_orthant == 0 && b.num_aux == 0; }

/// Ways that normals and points are free in every lane.
struct LaneFreedom {
  Lane normal{};
  Lane point{};
};

/// Own: the number of both sides' own variables if known when compiled, else -1.
template <int Own>
LaneFreedom count_freedoms(const LaneBlock* blocks, const ActiveRows* active, const LaneMeasure& measure,
                           const Lane* inverse_size) {
  const int ny[2] = {blocks[0].num_aux, blocks[1].num_aux};
  const int num_aux = Own >= 0 ? Own : ny[0] + ny[1];
  // a row of one side as one over the first shared variables and both sides' own
  Lane wide[kMostColumns];
  const auto spread = [&](int k, const Lane* row, int num_shared) -> const Lane* {
    if constexpr (Own == 0) return row;
    const int own = num_shared + (k == 0 ? 0 : ny[0]);
    for (int a = 0; a < num_shared; ++a) wide[a] = row[a];
    for (int j = 0; j < num_aux; ++j) wide[num_shared + j] = Lane{};
    for (int j = 0; j < ny[k]; ++j) wide[own + j] = row[kShared + j];
    return wide;
  };
  constexpr int kAll = Own >= 0 ? kShared + Own : -1;
  LaneFreedom out;

  // normal: rank G_A + rank G_B - rank [G_A; G_B], which is 0 where all gradients are independent
  LaneRank<kAll> both(kShared + num_aux);
  Lane num_gradients{};
  Lane rank_A{};
  for (int k = 0; k < 2; ++k) {
    num_gradients += for_gradients(blocks[k], active[k], measure, inverse_size[k],
                                   [&](const Lane* row) { both.add(spread(k, row, kShared)); });
    if (k == 0) rank_A = both.rank();
  }
  const LaneMask dependent = both.rank() < num_gradients;
  if (any(dependent)) {
    LaneRank<-1> only_B(kShared + ny[1]);
    (void)for_gradients(blocks[1], active[1], measure, inverse_size[1], [&](const Lane* row) { only_B.add(row); });
    out.normal = select(dependent, rank_A + only_B.rank() - both.rank(), Lane{});
  }

  // point: gradients that span everything leave it no way; else count the conditions
  const LaneMask open = both.rank() < static_cast<double>(kShared + num_aux);
  if (!any(open)) return out;
  LaneRank<Own >= 0 ? 3 + Own : -1> point(3 + num_aux);
  LaneRank<Own> auxiliaries(num_aux);
  for (int k = 0; k < 2; ++k) {
    for_conditions(blocks[k], active[k], measure, inverse_size[k], [&](const Lane* row) {
      const Lane* at_once = spread(k, row, 3);
      point.add(at_once);
      if (Own != 0 && ny[k] > 0) auxiliaries.add(at_once + 3);
    });
  }
  out.point = select(open, 3.0 - (point.rank() - auxiliaries.rank()), Lane{});
  return out;
}

}  // namespace

void freedoms(const ConicLanes& lanes, const LaneSets& sets, unsigned wanted, Freedom (&out)[kLanes],
              RankStorage& storage) {
  for (Freedom& each : out) each = Freedom{};
  const LaneBlock* blocks = lanes.blocks;
  if (wanted == 0 || round(blocks[0]) || round(blocks[1])) return;
  const int num_aux = blocks[0].num_aux + blocks[1].num_aux;
  if (kShared + num_aux > kMostColumns) {
    for (unsigned left = wanted; left != 0; left &= left - 1) {
      const int l = std::countr_zero(left);
      out[l] = freedom(lanes, l, *sets[0][l], *sets[1][l], storage);
    }
    return;
  }
  const Lane alpha = lanes.u[3];
  const Lane reach = lanes.dual_scale / alpha;
  const Lane threshold = sqrt(lanes.gap / (alpha * lanes.degree));
  const LaneMeasure measure{.reach = reach, .threshold = threshold, .vanishing = threshold * alpha * reach};
  Lane inverse_size[2];
  for (int l = 0; l < kLanes; ++l) {
    const double radius[2] = {sets[0][l]->outer_radius, sets[1][l]->outer_radius};
    const double least = std::min(radius[0], radius[1]);
    for (int k = 0; k < 2; ++k) inverse_size[k][l] = 1.0 / std::min(radius[k], 1e3 * least);
  }
  const ActiveRows active[2] = {{blocks[0], measure, inverse_size[0]}, {blocks[1], measure, inverse_size[1]}};
  const auto count = [&](auto own) { return count_freedoms<own()>(blocks, active, measure, inverse_size); };
  const LaneFreedom free = num_aux == 0   ? count(std::integral_constant<int, 0>{})
                           : num_aux == 1 ? count(std::integral_constant<int, 1>{})
                           : num_aux == 2 ? count(std::integral_constant<int, 2>{})
                                          : count(std::integral_constant<int, -1>{});
  const unsigned crowded = active[0].crowded | active[1].crowded;
  for (int l = 0; l < kLanes; ++l) {
    if ((wanted >> static_cast<unsigned>(l) & 1U) == 0) continue;
    if ((crowded >> static_cast<unsigned>(l) & 1U) != 0) {
      out[l] = freedom(lanes, l, *sets[0][l], *sets[1][l], storage);
      continue;
    }
    out[l] = {.point = std::clamp(static_cast<int>(free.point[l]), 0, 2),
              .normal = std::clamp(static_cast<int>(free.normal[l]), 0, 2)};
  }
}

}  // namespace tangere
