#include "tangere/proximity/batch/internal/conic_batch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tangere/proximity/internal/pose_check.hpp"

namespace tangere {
namespace {

/// Sets larger than this are not for lanes: their memory would not stay in the cache.
constexpr int kMostRows = 256;
constexpr int kMostCones = 16;
constexpr double kLargestRelativeGap = 0.5;

/// The number of rows that m rows are padded to.
int padded_rows(int m) {
  const int step = m <= 2 ? 1 : m <= 8 ? 2 : 4;
  return (m + step - 1) / step * step;
}

LaneShape lane_shape(const ConicRowsView& rows, bool scaled) {
  return {.num_orthant = padded_rows(rows.num_orthant),
          .num_cones = rows.num_cones,
          .num_aux = rows.num_aux,
          .half_space = !scaled};
}

bool fits(const ConvexSet& set) {
  const ConicRowsView& rows = set.rows.view();
  return rows.num_orthant <= kMostRows && rows.num_cones <= kMostCones && rows.num_aux <= kMaxLaneAux;
}

/// The structure as a number, and back.
constexpr int kShapeBits = 28;
std::uint64_t encoded(const LaneShape& shape) {
  return static_cast<std::uint64_t>(shape.num_orthant) << 17U | static_cast<std::uint64_t>(shape.num_cones) << 9U |
         static_cast<std::uint64_t>(shape.num_aux) << 1U | static_cast<std::uint64_t>(shape.half_space);
}
LaneShape decoded(std::uint64_t key) {
  return {.num_orthant = static_cast<int>(key >> 17U & 0x7ffU),
          .num_cones = static_cast<int>(key >> 9U & 0xffU),
          .num_aux = static_cast<int>(key >> 1U & 0xffU),
          .half_space = (key & 1U) != 0};
}

/// Whether the single query would not refuse the pair, and it is small enough.
bool for_lanes(const PosedPair& pair, double smoothing) {
  if (pair.A == nullptr || pair.B == nullptr) return false;
  if (pair.A->convex_set() == nullptr || pair.B->convex_set() == nullptr) return false;
  const ConvexSet& A = *pair.A->convex_set();
  const ConvexSet& B = *pair.B->convex_set();
  return (A.scaled || B.scaled) && fits(A) && fits(B) &&
         smoothing * (A.rows.degree() + B.rows.degree()) <= kLargestRelativeGap && is_near(pair.X_WA.p) &&
         is_near(pair.X_WB.p) && is_rotation(pair.X_WA.R) && is_rotation(pair.X_WB.R);
}

/// Planning waits for the memory of shapes and does little with it: asks for the shape of a pair some way ahead of the
/// i-th, for what it points to less far ahead.
void ask_ahead(std::span<const PosedPair> pairs, std::size_t i) {
  const auto for_shapes = [&](std::size_t at, auto&& ask) {
    if (at >= pairs.size()) return;
    if (pairs[at].A != nullptr) ask(*pairs[at].A);
    if (pairs[at].B != nullptr) ask(*pairs[at].B);
  };
  for_shapes(i + 40, [](const Shape& shape) { __builtin_prefetch(&shape); });
  for_shapes(i + 28, [](const Shape& shape) { __builtin_prefetch(shape.convex_set()); });
  for_shapes(i + 14, [](const Shape& shape) {
    if (shape.convex_set() != nullptr) prefetch_bytes(&shape.convex_set()->rows.view(), sizeof(ConicRowsView));
  });
}

/// Four numbers of every lane into four lanes of numbers.
[[gnu::always_inline]] inline void gather4(const double* const (&from)[kLanes], Lane* to) {
  auto* out = reinterpret_cast<double*>(to);
  if constexpr (kLanes >= 4) {
    for (int l = 0; l < kLanes; l += 4) {
      const Vec4 a = load4(from[l]);
      const Vec4 b = load4(from[l + 1]);
      const Vec4 c = load4(from[l + 2]);
      const Vec4 d = load4(from[l + 3]);
      const Vec4 ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
      const Vec4 ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
      const Vec4 cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
      const Vec4 cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
      store4(out + l, __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5));
      store4(out + kLanes + l, __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5));
      store4(out + 2 * kLanes + l, __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7));
      store4(out + 3 * kLanes + l, __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7));
    }
  } else {
    for (int a = 0; a < 4; ++a) {
      for (int l = 0; l < kLanes; ++l) out[kLanes * a + l] = from[l][a];
    }
  }
}

Vec4 at(const LaneVector& v, int lane) { return Vec4{v[0][lane], v[1][lane], v[2][lane], v[3][lane]}; }

/// dα / d(poses) with smoothing, see scaling_derivatives.cpp: weightᵀ (φ × f - H δ̃).
Vector12 smoothed_gradient(const Pose& X_WA, const Pose& X_AB, const ConicPoint& point, Vec4 weight, Vec4 pull_A,
                           Vec4 pull_B) {
  const auto head3 = [](Vec4 v) { return Vector3(v[0], v[1], v[2]); };
  const Vector3 x = head3(point.u);
  const Vector3 w = head3(weight);
  const Vector3 move = X_WA.R * head3(pull_A);
  const Vector3 turn_B = (x - X_AB.p).cross(head3(pull_B)) + head3(point.force_B).cross(w);
  Vector12 g;
  g.segment<3>(0) = move;
  g.segment<3>(3) = x.cross(head3(pull_A)) + head3(point.force_A).cross(w);
  g.segment<3>(6) = -move;
  g.segment<3>(9) = X_AB.R.transpose() * turn_B;
  return g;
}

}  // namespace

LanePlan::Side::Side(const ConvexSet& of)
    : set(&of),
      orthant_u(of.rows.view().orthant_rows_u),
      orthant_y(of.rows.view().orthant_rows_y),
      cone_u(of.rows.view().cone_u),
      cone_y(of.rows.view().cone_y),
      aux_start(of.rows.view().aux_start),
      num_orthant(of.rows.view().num_orthant) {}

/// The entries by key, equal ones in the order of their index. Keys are few, and often the same many times in a row.
void LanePlan::sort_by_key() {
  const auto place = [&](std::uint64_t key) {
    return std::lower_bound(keys_.begin(), keys_.end(), key, [](const Key& a, std::uint64_t k) { return a.key < k; });
  };
  keys_.clear();
  auto at = keys_.end();
  for (const Entry& entry : entries_) {
    if (at == keys_.end() || at->key != entry.key) at = place(entry.key);
    if (at == keys_.end() || at->key != entry.key) at = keys_.insert(at, {entry.key, 0});
    ++at->next;
  }
  std::size_t next = 0;
  for (Key& key : keys_) next += std::exchange(key.next, next);
  order_.resize(entries_.size());
  at = keys_.begin();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (at->key != entries_[i].key) at = place(entries_[i].key);
    order_[at->next++] = i;
  }
}

void LanePlan::begin(std::size_t num_pairs) {
  groups_.clear();
  singles_.clear();
  entries_.resize(num_pairs);
  order_.reserve(num_pairs);
  groups_.reserve(num_pairs);
  singles_.reserve(num_pairs);
}

void LanePlan::look_at(std::span<const PosedPair> pairs, std::size_t i, double smoothing) {
  ask_ahead(pairs, i);
  Entry& entry = entries_[i];
  entry.index = i;
  entry.key = kSingle;
  if (!for_lanes(pairs[i], smoothing)) return;
  const ConvexSet& A = *pairs[i].A->convex_set();
  const ConvexSet& B = *pairs[i].B->convex_set();
  entry.key = encoded(lane_shape(A.rows.view(), A.scaled)) << kShapeBits | encoded(lane_shape(B.rows.view(), B.scaled));
  entry.sides[0] = Side(A);
  entry.sides[1] = Side(B);
}

void LanePlan::finish() {
  sort_by_key();
  for (std::size_t first = 0; first < entries_.size();) {
    const std::uint64_t key = entries_[order_[first]].key;
    // the largest key: all that are left
    if (key == kSingle) {
      singles_.assign(order_.begin() + static_cast<std::ptrdiff_t>(first), order_.end());
      return;
    }
    std::size_t last = first + 1;
    while (last < entries_.size() && last - first < kLanes && entries_[order_[last]].key == key) ++last;
    groups_.push_back({.first = first,
                       .count = static_cast<int>(last - first),
                       .A = decoded(key >> kShapeBits),
                       .B = decoded(key & ((std::uint64_t{1} << kShapeBits) - 1))});
    first = last;
  }
}

void LanePlan::prefetch(std::size_t group, std::span<const PosedPair> pairs, std::span<Scaling> results) const {
  if (group + 4 >= groups_.size()) return;
  const Group& next = groups_[group + 4];
  const auto prefetch_side = [](const Side& side, const LaneShape& shape) {
    constexpr int kNumber = static_cast<int>(sizeof(double));
    prefetch_bytes(side.orthant_u, kNumber * kShared * side.num_orthant);
    prefetch_bytes(side.cone_u, kNumber * 4 * kShared * shape.num_cones);
    __builtin_prefetch(&side.set->scaled);
    if (shape.num_aux == 0) return;
    prefetch_bytes(side.orthant_y, kNumber * shape.num_aux * side.num_orthant);
    prefetch_bytes(side.cone_y, kNumber * 4 * shape.num_aux * shape.num_cones);
    prefetch_bytes(side.aux_start, kNumber * kShared * shape.num_aux);
  };
  for (int l = 0; l < next.count; ++l) {
    const Entry& entry = this->entry(next, l);
    prefetch_side(entry.sides[0], next.A);
    prefetch_side(entry.sides[1], next.B);
    prefetch_bytes(&pairs[entry.index], static_cast<int>(sizeof(PosedPair)));
    prefetch_bytes(&results[entry.index], static_cast<int>(sizeof(Scaling)));
  }
}

void LaneSolver::reserve(const LanePlan& plan) {
  for (const LanePlan::Group& group : plan.groups()) {
    storage_[0].reserve(group.A.num_orthant, group.A.num_cones, group.A.num_aux);
    storage_[1].reserve(group.B.num_orthant, group.B.num_cones, group.B.num_aux);
  }
}

/// The rows of one side as the shapes have them.
void LaneSolver::gather(int side, const LaneShape& shape) {
  alignas(32) static constexpr double kZeros[kMaxLaneAux] = {};
  LaneBlock& b = engine_.blocks[side];
  storage_[side].bind(shape.num_orthant, shape.num_cones, shape.num_aux, b);
  const LanePlan::Side* const(&sets)[kLanes] = sides_[side];
  const int ny = shape.num_aux;
  const double* from[kLanes];
  for (int i = 0; i < shape.num_orthant; ++i) {
    Lane* row = b.rows + b.stride() * i;
    for (int l = 0; l < kLanes; ++l) {
      from[l] = i < sets[l]->num_orthant ? sets[l]->orthant_u + kShared * i : kZeros;
    }
    gather4(from, row);
    if (ny == 0) continue;
    auto* out = reinterpret_cast<double*>(row + kRowY);
    for (int l = 0; l < kLanes; ++l) {
      const double* own = i < sets[l]->num_orthant ? sets[l]->orthant_y + ny * i : kZeros;
      for (int j = 0; j < ny; ++j) out[kLanes * j + l] = own[j];
    }
  }
  for (int k = 0; k < shape.num_cones; ++k) {
    for (int a = 0; a < kShared; ++a) {
      for (int l = 0; l < kLanes; ++l) from[l] = sets[l]->cone_u + 4 * (kShared * k + a);
      gather4(from, b.cones[k].column[a].v);
    }
    for (int j = 0; j < ny; ++j) {
      for (int l = 0; l < kLanes; ++l) from[l] = sets[l]->cone_y + 4 * (ny * k + j);
      gather4(from, b.cone_y[ny * k + j].v);
    }
  }
  for (int j = 0; j < ny; ++j) {
    for (int a = 0; a < kShared; ++a) {
      auto* out = reinterpret_cast<double*>(&aux_start_[side][j][a]);
      for (int l = 0; l < kLanes; ++l) out[l] = sets[l]->aux_start[ny * a + j];
    }
  }
}

/// The rows of B in the axes of A: S_p Rᵀ.
void LaneSolver::turn() {
  LaneBlock& b = engine_.blocks[1];
  for (int i = 0; i < b.num_orthant; ++i) {
    Lane* row = b.rows + b.stride() * i;
    const Lane v[3] = {row[0], row[1], row[2]};
    for (int a = 0; a < 3; ++a) row[a] = v[0] * R_[a][0] + v[1] * R_[a][1] + v[2] * R_[a][2];
  }
  for (int k = 0; k < b.num_cones; ++k) {
    LaneVector* columns = b.cones[k].column;
    const LaneVector v[3] = {columns[0], columns[1], columns[2]};
    for (int a = 0; a < 3; ++a) columns[a] = plus(plus(R_[a][0] * v[0], R_[a][1], v[1]), R_[a][2], v[2]);
  }
}

/// The smallest alpha for which (p, alpha, y = aux_start (p, alpha)) satisfies the rows; p in the axes of A and in the
/// set's own.
Lane LaneSolver::gauge(int side, const Lane (&p)[3], const Lane (&p_own)[3]) const {
  const LaneBlock& b = engine_.blocks[side];
  const int ny = b.num_aux;
  Lane y[kMaxLaneAux];
  for (int j = 0; j < ny; ++j) {
    const LaneVector& c = aux_start_[side][j];
    y[j] = c[0] * p_own[0] + c[1] * p_own[1] + c[2] * p_own[2];
  }
  Lane worst{};
  const Lane* row = b.rows;
  for (int i = 0; i < b.num_orthant; ++i, row += b.stride()) {
    Lane m = row[0] * p[0] + row[1] * p[1] + row[2] * p[2];
    Lane t = row[3];
    for (int j = 0; j < ny; ++j) {
      m += row[kRowY + j] * y[j];
      t += row[kRowY + j] * aux_start_[side][j][3];
    }
    worst = max(worst, -m / (t + 1e-300));
  }
  for (int k = 0; k < b.num_cones; ++k) {
    const LaneVector* c = b.cones[k].column;
    LaneVector m = plus(plus(p[0] * c[0], p[1], c[1]), p[2], c[2]);
    LaneVector t = c[3];
    for (int j = 0; j < ny; ++j) {
      m = plus(m, y[j], b.cone_y[ny * k + j]);
      t = plus(t, aux_start_[side][j][3], b.cone_y[ny * k + j]);
    }
    const Lane tt = form(t, t);
    const Lane tm = form(t, m);
    worst = max(worst, (sqrt(max(tm * tm - tt * form(m, m), Lane{})) - tm) / tt);
  }
  return worst;
}

/// Own variables, slacks and z = s⁻¹ of one side; what (S_alpha + S_y aux_start_alpha)ᵀ z is joins the weight.
void LaneSolver::set_up_block(int side, const LaneShape& shape, const LaneVector& from_center, Lane& weight) {
  LaneBlock& b = engine_.blocks[side];
  const int ny = b.num_aux;
  if (ny > 0) {
    Lane p[3] = {from_center[0], from_center[1], from_center[2]};
    if (side == 1) {
      for (int a = 0; a < 3; ++a)
        p[a] = R_[0][a] * from_center[0] + R_[1][a] * from_center[1] + R_[2][a] * from_center[2];
    }
    for (int j = 0; j < ny; ++j) {
      const LaneVector& c = aux_start_[side][j];
      b.y[j] = c[0] * p[0] + c[1] * p[1] + c[2] * p[2] + c[3] * from_center[3];
    }
  }
  Lane offset{};
  Lane num_rows{};
  for (int l = 0; l < kLanes; ++l) {
    num_rows[l] = static_cast<double>(sides_[side][l]->num_orthant);
    if (shape.half_space) offset[l] = sets_[side][l]->rows.view().orthant_offset[0];
  }
  engine_.degree += num_rows + static_cast<double>(2 * shape.num_cones);
  with_lane_operations<LaneOperations>(b, [&](auto operations) { operations.evaluate(b, from_center, offset); });

  Lane* row = b.rows;
  for (int i = 0; i < b.num_orthant; ++i, row += b.stride()) {
    const LaneMask real = num_rows > static_cast<double>(i);
    row[kRowS] = select(real, row[kRowS], splat(1.0));
    row[kRowZ] = select(real, 1.0 / row[kRowS], Lane{});
    Lane t = row[3];
    for (int j = 0; j < ny; ++j) t += row[kRowY + j] * aux_start_[side][j][3];
    weight += row[kRowZ] * t;
  }
  for (int k = 0; k < b.num_cones; ++k) {
    LaneCone& cone = b.cones[k];
    cone.z = (1.0 / form(cone.s, cone.s)) * reflect(cone.s);
    LaneVector t = cone.column[3];
    for (int j = 0; j < ny; ++j) t = plus(t, aux_start_[side][j][3], b.cone_y[ny * k + j]);
    weight += dot(cone.z, t);
    // the forms of the rows
    for (int a = 0, i = 0; a < kShared; ++a) {
      for (int c = 0; c <= a; ++c, ++i) cone.forms.v[i] = form(cone.column[a], cone.column[c]);
    }
    for (int j = 0; j < ny; ++j) {
      const LaneVector& own = b.cone_y[ny * k + j];
      for (int a = 0; a < kShared; ++a) b.form_yu[ny * k + j][a] = form(own, cone.column[a]);
      for (int l = 0; l <= j; ++l) b.form_yy[ny * (ny * k + j) + l] = form(own, b.cone_y[ny * k + l]);
    }
  }
}

/// The start on the centre line of PairProgram::set_up; returns the lanes whose alpha is not 0.
LaneMask LaneSolver::start(const LanePlan::Group& group) {
  const LaneBlock* blocks = engine_.blocks;
  const Lane minus_d[3] = {-d_[0], -d_[1], -d_[2]};
  Lane d_B[3];
  for (int a = 0; a < 3; ++a) d_B[a] = R_[0][a] * minus_d[0] + R_[1][a] * minus_d[1] + R_[2][a] * minus_d[2];
  const Lane squared = d_[0] * d_[0] + d_[1] * d_[1] + d_[2] * d_[2];
  LaneMask given;
  Lane x[3];
  Lane alpha;
  if (!group.A.half_space && !group.B.half_space) {
    given = squared >= 1e-300;
    const Lane gauge_A = gauge(0, d_, d_);
    const Lane gauge_B = gauge(1, minus_d, d_B);
    const Lane t = gauge_B / (gauge_A + gauge_B);
    for (int a = 0; a < 3; ++a) x[a] = t * d_[a];
    alpha = 1.5 * t * gauge_A;
  } else {
    // against a half-space: a fifth beyond the plane
    const int plane = group.A.half_space ? 0 : 1;
    const Lane* row = blocks[plane].rows;
    const Lane(&center)[3] = plane == 0 ? d_ : minus_d;
    Lane slack = row[0] * center[0] + row[1] * center[1] + row[2] * center[2];
    for (int l = 0; l < kLanes; ++l) slack[l] += sets_[plane][l]->rows.view().orthant_offset[0];
    given = slack < 0.0;
    Lane inward[3];
    for (int a = 0; a < 3; ++a) inward[a] = -1.2 * slack * row[a];
    if (plane == 1) {
      for (int a = 0; a < 3; ++a) x[a] = inward[a];
      alpha = 1.5 * gauge(0, inward, inward);
    } else {
      Lane own[3];
      for (int a = 0; a < 3; ++a) {
        x[a] = d_[a] + inward[a];
        own[a] = R_[0][a] * inward[0] + R_[1][a] * inward[1] + R_[2][a] * inward[2];
      }
      alpha = 1.5 * gauge(1, inward, own);
    }
  }
  engine_.u = {x[0], x[1], x[2], alpha};
  engine_.dual_scale = sqrt(squared);
  engine_.dual_scale_last = alpha;

  // z = mu s⁻¹ with mu such that the dual holds along the start
  engine_.degree = Lane{};
  Lane weight{};
  set_up_block(0, group.A, engine_.u, weight);
  set_up_block(1, group.B, {x[0] - d_[0], x[1] - d_[1], x[2] - d_[2], alpha}, weight);
  const Lane mu = 1.0 / weight;
  for (LaneBlock& b : engine_.blocks) {
    Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += b.stride()) row[kRowZ] *= mu;
    for (int k = 0; k < b.num_cones; ++k) b.cones[k].z = mu * b.cones[k].z;
  }
  engine_.gap = mu * engine_.degree;
  return given;
}

unsigned LaneSolver::solve(const LanePlan& plan, const LanePlan::Group& group, std::span<const PosedPair> pairs,
                           const ScalingOptions& options, std::span<Scaling> results, std::span<Vector12> gradients,
                           unsigned& attempted) {
  for (int l = 0; l < kLanes; ++l) {
    const LanePlan::Entry& entry = plan.entry(group, l);
    const PosedPair& pair = pairs[entry.index];
    for (int k = 0; k < 2; ++k) {
      sides_[k][l] = &entry.sides[k];
      sets_[k][l] = entry.sides[k].set;
    }
    const Matrix3 R_AW = pair.X_WA.R.transpose();
    X_AB_[l] = {R_AW * pair.X_WB.R, R_AW * (pair.X_WB.p - pair.X_WA.p)};
    for (int a = 0; a < 3; ++a) {
      for (int c = 0; c < 3; ++c) R_[a][c][l] = X_AB_[l].R(a, c);
      d_[a][l] = X_AB_[l].p[a];
    }
  }
  gather(0, group.A);
  gather(1, group.B);
  turn();
  LaneMask given = start(group);

  EngineOptions engine{.relative_tolerance = options.tolerance,
                       .absolute_tolerance = 0.0,
                       .max_iterations = options.max_iterations,
                       .kappa = options.smoothing,
                       .relative_kappa = true};
  if (options.smoothing > 0.0) {
    engine.centrality = 1e-11;
    engine.max_final_steps = options.max_iterations;
  }
  engine_.run(engine, given);

  LaneVector weight;
  LaneVector pull[2];
  const bool smoothed = options.smoothing > 0.0;
  if (smoothed && !gradients.empty()) engine_.linearise(weight, pull);

  const unsigned present = (1U << static_cast<unsigned>(group.count)) - 1U;
  const unsigned answered = bits(engine_.solved) & present;
  attempted = bits(given) & present;
  // smoothing makes point and normal unique
  Freedom free[kLanes];
  freedoms(engine_, sets_, smoothed ? 0U : answered, free, rank_storage_);
  for (int l = 0; l < group.count; ++l) {
    if ((answered >> static_cast<unsigned>(l) & 1U) == 0) continue;
    const std::size_t i = plan.entry(group, l).index;
    const PosedPair& pair = pairs[i];
    const ConicPoint point{.u = at(engine_.u, l),
                           .force_A = at(engine_.force[0], l),
                           .force_B = at(engine_.force[1], l),
                           .gap = engine_.gap[l],
                           .dual_residual = engine_.dual_residual[l],
                           .iterations = static_cast<int>(engine_.iterations[l])};
    Scaling& result = results[i];
    result = read_answer({*sets_[0][l], *sets_[1][l], pair.X_WA, pair.X_WB, X_AB_[l]}, point, ScalingStatus::solved);
    result.point_freedom = free[l].point;
    result.normal_freedom = free[l].normal;
    if (gradients.empty()) continue;
    gradients[i] = smoothed
                       ? smoothed_gradient(pair.X_WA, X_AB_[l], point, at(weight, l), at(pull[0], l), at(pull[1], l))
                       : wrench_gradient(pair.X_WA, X_AB_[l], point);
  }
  return answered;
}

}  // namespace tangere
