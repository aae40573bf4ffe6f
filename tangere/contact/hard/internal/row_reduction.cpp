#include "tangere/contact/hard/internal/row_reduction.hpp"

#include <algorithm>
#include <cmath>

namespace tangere {
namespace {

/// Directions weaker than this part of the largest are dropped: rows hardly tell them apart.
constexpr double kNoDirection = 1e-9;

/// So that moments and forces are of like size.
double length_of(std::span<const PairRow> rows) {
  double longest = 0.0;
  for (const PairRow& row : rows) longest = std::max(longest, row.reads.tail<3>().squaredNorm());
  return longest > 0.0 ? std::sqrt(longest) : 1.0;
}

}  // namespace

/// D Wᵀ = Q Bᵀ by Gram and Schmidt, the largest column first. Each is made orthogonal once more before it is taken.
void RowReduction::orthogonalise(Pair& pair, Eigen::Index count) {
  ScratchMatrix::View X = columns_.view();
  int order[kMostRows] = {0, 1, 2, 3, 4, 5};
  pair.reads.setZero();
  double largest = 0.0;
  for (int k = 0; k < kMostRows; ++k) {
    int best = k;
    for (int j = k + 1; j < kMostRows; ++j)
      if (X.row(order[j]).squaredNorm() > X.row(order[best]).squaredNorm()) best = j;
    std::swap(order[k], order[best]);
    auto q = X.row(order[k]).head(count);
    for (int i = 0; i < k; ++i) {
      const double along = X.row(order[i]).head(count).dot(q);
      pair.reads(order[k], i) += along;
      q -= along * X.row(order[i]).head(count);
    }
    const double size = q.norm();
    if (k == 0) largest = size;
    if (!(size > kNoDirection * largest)) break;
    q /= size;
    pair.reads(order[k], k) = size;
    for (int j = k + 1; j < kMostRows; ++j) {
      const double along = q.dot(X.row(order[j]).head(count));
      pair.reads(order[j], k) = along;
      X.row(order[j]).head(count) -= along * q;
    }
    ++pair.rank;
  }
  for (int k = 0; k < pair.rank; ++k)
    for (Eigen::Index i = 0; i < count; ++i) weights_[pair.first + i].share[k] = X(order[k], i);
}

RowReduction::Pair RowReduction::reduce(std::span<const PairRow> rows) {
  Pair pair;
  pair.first = static_cast<int>(weights_.size());
  pair.compliance = rows.front().compliance;
  weights_.resize(weights_.size() + rows.size());

  // D Wᵀ, a row of X each of its columns
  const double length = length_of(rows);
  const auto count = static_cast<Eigen::Index>(rows.size());
  ScratchMatrix::View X = columns_.reset(kMostRows, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const PairRow& row = rows[i];
    const double D = std::sqrt(pair.compliance / row.compliance);
    X.col(i) << D * row.reads.head<3>(), D / length * row.reads.tail<3>();
    pair.leaks = pair.leaks || row.pushes != row.reads;
  }
  orthogonalise(pair, count);
  pair.reads.bottomRows<3>() *= length;

  // Qᵀ D, N̄ = N D Q and, by Qᵀ D⁻¹ C⁻¹ = Qᵀ D / c̄, L
  Weight* weights = weights_.data() + pair.first;
  for (std::size_t i = 0; i < rows.size(); ++i) weights[i].share *= std::sqrt(pair.compliance / rows[i].compliance);
  pair.pushes = pair.reads;
  if (!pair.leaks) return pair;
  pair.pushes.setZero();
  for (std::size_t i = 0; i < rows.size(); ++i) pair.pushes += rows[i].pushes * weights[i].share.transpose();
  for (std::size_t i = 0; i < rows.size(); ++i)
    weights[i].leak = rows[i].pushes / rows[i].compliance - pair.pushes * weights[i].share / pair.compliance;
  return pair;
}

}  // namespace tangere
