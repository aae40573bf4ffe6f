#include "tangere/contact/hard/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/QR>

namespace tangere {
namespace {

constexpr double kRankTolerance = 1e-9;
/// Slack relative to the largest impulse (outside its bounds) and to the largest velocity (away from rest).
constexpr double kSlack = 1e-9;

}  // namespace

MatrixX pseudo_inverse(const Eigen::Ref<const MatrixX>& A) {
  Eigen::CompleteOrthogonalDecomposition<MatrixX> decomposition;
  decomposition.setThreshold(kRankTolerance);
  decomposition.compute(A);
  return decomposition.pseudoInverse();
}

bool least_squares_impulses(const Eigen::Ref<const MatrixX, 0, Eigen::OuterStride<>>& A,
                            const Eigen::Ref<const VectorX>& b, std::span<const BoxedLcpRow> rows,
                            std::span<const RowSet> sets, VectorX& f, VectorX& w) {
  std::vector<int> clamped;
  for (std::size_t r = 0; r < sets.size(); ++r)
    if (sets[r] == RowSet::clamped) clamped.push_back(static_cast<int>(r));
  if (clamped.empty()) return true;

  // clamped normals carry the friction that is at its bound; what is at a constant bound is on the right side
  const auto ratio = [&](std::size_t r) { return sets[r] == RowSet::upper ? rows[r].friction : -rows[r].friction; };
  MatrixX N = A(Eigen::all, clamped);
  VectorX right = -b;
  for (std::size_t r = 0; r < sets.size(); ++r) {
    if (sets[r] == RowSet::clamped) continue;
    const auto row = static_cast<Eigen::Index>(r);
    const int normal = rows[r].normal;
    if (normal >= 0 && sets[normal] == RowSet::clamped) {
      const auto column = std::find(clamped.begin(), clamped.end(), normal) - clamped.begin();
      N.col(column) += ratio(r) * A.col(row);
    } else {
      right -= A.col(row) * f[row];
    }
  }
  const VectorX found = pseudo_inverse(N(clamped, Eigen::all)) * right(clamped);

  VectorX f_new = f;
  for (std::size_t i = 0; i < clamped.size(); ++i) f_new[clamped[i]] = found[static_cast<Eigen::Index>(i)];
  for (std::size_t r = 0; r < sets.size(); ++r) {
    const int normal = rows[r].normal;
    if (sets[r] != RowSet::clamped && normal >= 0) f_new[static_cast<Eigen::Index>(r)] = ratio(r) * f_new[normal];
  }
  const VectorX w_new = A * f_new + b;
  const double most_force = kSlack * f_new.cwiseAbs().maxCoeff();
  const double most_speed = kSlack * b.cwiseAbs().maxCoeff();
  for (const int r : clamped) {
    const BoxedLcpRow& row = rows[r];
    const double upper = row.normal < 0 ? row.upper : row.friction * f_new[row.normal];
    const double lower = row.normal < 0 ? row.lower : -upper;
    if (f_new[r] < lower - most_force || f_new[r] > upper + most_force || std::abs(w_new[r]) > most_speed) return false;
  }
  f = f_new;
  w = w_new;
  return true;
}

}  // namespace tangere
