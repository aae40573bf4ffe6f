/// Maximise t n · p + Σ log s_i + Σ log(s₀² - |s₁|²) by damped Newton steps, t growing; the gap is degree / t.

#include "tests/support/barrier_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

namespace tangere::test {
namespace {

struct Barrier {
  const ConvexSet& set;
  MatrixX G;      // rows over x = (p, y)
  VectorX fixed;  // rows at x = 0, alpha = 1

  explicit Barrier(const ConvexSet& s) : set(s) {
    const MatrixX& S = set.rows.matrix();
    G.resize(S.rows(), 3 + set.rows.num_aux());
    G << S.leftCols<3>(), S.middleCols(4, set.rows.num_aux());
    fixed = S.col(3) + S.rightCols<1>();
  }

  /// -log barrier; infinite outside.
  [[nodiscard]] double value(const VectorX& s) const {
    double sum = 0.0;
    const int m = set.rows.num_orthant();
    for (int i = 0; i < m; ++i) {
      if (!(s[i] > 0.0)) return std::numeric_limits<double>::infinity();
      sum -= std::log(s[i]);
    }
    for (int i = m; i < s.size(); i += 4) {
      const double norm = s.segment<3>(i + 1).norm();
      if (!(s[i] > norm)) return std::numeric_limits<double>::infinity();
      sum -= std::log(s[i] - norm) + std::log(s[i] + norm);
    }
    return sum;
  }

  void derivatives(const VectorX& s, VectorX& gradient, MatrixX& hessian) const {
    const int m = set.rows.num_orthant();
    gradient = VectorX::Zero(s.size());
    hessian = MatrixX::Zero(s.size(), s.size());
    for (int i = 0; i < m; ++i) {
      gradient[i] = -1.0 / s[i];
      hessian(i, i) = 1.0 / (s[i] * s[i]);
    }
    const Eigen::Vector4d J(1.0, -1.0, -1.0, -1.0);
    for (int i = m; i < s.size(); i += 4) {
      const double norm = s.segment<3>(i + 1).norm();
      const double q = (s[i] - norm) * (s[i] + norm);
      const Eigen::Vector4d Js = J.cwiseProduct(s.segment<4>(i));
      gradient.segment<4>(i) = -2.0 / q * Js;
      hessian.block<4, 4>(i, i) = 4.0 / (q * q) * Js * Js.transpose();
      hessian.block<4, 4>(i, i) -= Matrix4((2.0 / q * J).asDiagonal());
    }
  }
};

/// Of the squared Newton decrement.
constexpr double kNearCentre = 0.05;

}  // namespace

VectorX slacks(const ConvexSet& set, const Vector3& p, double alpha, const VectorX& y) {
  VectorX point(5 + y.size());
  point << p, alpha, y, 1.0;
  return set.rows.matrix() * point;
}

double smallest_margin(const ConvexSet& set, const VectorX& s) {
  double margin = std::numeric_limits<double>::infinity();
  const int m = set.rows.num_orthant();
  for (int i = 0; i < m; ++i) margin = std::min(margin, s[i]);
  for (int i = m; i < s.size(); i += 4) margin = std::min(margin, s[i] - s.segment<3>(i + 1).norm());
  return margin;
}

RowSupport support_by_rows(const ConvexSet& set, const Vector3& n, double accuracy) {
  const Barrier barrier(set);
  const double goal = accuracy * set.outer_radius * n.norm();
  VectorX cost = VectorX::Zero(barrier.G.cols());
  cost.head<3>() = -n;

  VectorX x = VectorX::Zero(barrier.G.cols());
  x.tail(set.rows.num_aux()) = set.aux_start.col(3);
  VectorX gradient;
  MatrixX hessian;
  double gap = set.outer_radius * n.norm();
  while (gap > goal) {
    gap *= 0.2;
    const double t = set.rows.degree() / gap;
    for (int iteration = 0; iteration < 100; ++iteration) {
      const VectorX s = barrier.G * x + barrier.fixed;
      barrier.derivatives(s, gradient, hessian);
      const VectorX g = t * cost + barrier.G.transpose() * gradient;
      const VectorX step = (barrier.G.transpose() * hessian * barrier.G).ldlt().solve(-g);
      const double decrement = -g.dot(step);
      if (!(decrement > 1e-16)) break;
      const double now = t * cost.dot(x) + barrier.value(s);
      double length = 1.0;
      // near the centre whole steps stay inside and converge, and values are too coarse to tell
      const bool near = decrement < kNearCentre;
      while (!near && length > 1e-12) {
        const VectorX trial = x + length * step;
        if (t * cost.dot(trial) + barrier.value(barrier.G * trial + barrier.fixed) <= now - 0.1 * length * decrement)
          break;
        length *= 0.5;
      }
      if (length <= 1e-12) break;
      x += length * step;
    }
  }
  barrier.derivatives(barrier.G * x + barrier.fixed, gradient, hessian);
  return {-cost.dot(x), gap, x.head<3>(), x.tail(set.rows.num_aux()), -gradient * (gap / set.rows.degree())};
}

}  // namespace tangere::test
