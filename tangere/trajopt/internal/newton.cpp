#include "tangere/trajopt/internal/newton.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::internal {
namespace {

/// The gradient is relative to its terms where these are larger.
constexpr double kLargeTerms = 100.0;

/// Adds a JᵀJ of a row to H (lower triangle), where it is not zero.
void add_square(const RowMatrixX& J, int row, double a, MatrixX& H) {
  const auto entries = J.row(row);
  int first = 0;
  int last = static_cast<int>(entries.size()) - 1;
  while (first <= last && entries[first] == 0.0) ++first;
  while (last > first && entries[last] == 0.0) --last;
  for (int j = first; j <= last; ++j) {
    const double factor = a * entries[j];
    if (factor != 0.0) H.col(j).segment(j, last - j + 1) += factor * entries.segment(j, last - j + 1).transpose();
  }
}

double slope_of_inequality(const KnotPoint& point, const KnotLinear& rows, int i, double barrier) {
  return (barrier + rows.z[i] * (point.h[i] + point.s[i])) / point.s[i];
}

/// Curvature a and slope b of a row.
struct RowTerms {
  double a = 0.0;
  double b = 0.0;
};

/// An inequality that counts by the square of its violation.
bool is_elastic(const Multipliers& weights, const KnotLayout& layout, int i) {
  return weights.elastic && layout.on_controls[i] == 0;
}

RowTerms cost_terms(const Multipliers& weights, double w, double r) {
  return weights.elastic ? RowTerms{} : RowTerms{w, w * r};
}

RowTerms equality_terms(const Multipliers& weights, double lambda, double c) {
  return {weights.penalty, (weights.elastic ? 0.0 : lambda) + weights.penalty * c};
}

RowTerms elastic_terms(const Multipliers& weights, double h) {
  return h > 0.0 ? RowTerms{weights.penalty, weights.penalty * h} : RowTerms{};
}

}  // namespace

void assemble(const Transcription& problem, const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
              const Multipliers& weights, Workers& workers, std::vector<MatrixX>& scratch,
              std::vector<LqStage>& stages) {
  workers.run(problem.num_knots(), [&](int k, int thread) {
    const KnotLayout& layout = problem.at(k);
    const KnotPoint& point = points[k];
    const KnotLinear& rows = linear[k];
    LqStage& stage = stages[k];
    MatrixX& H = scratch[thread];
    const Eigen::Index ndx = stage.qx.size();
    const Eigen::Index nu = stage.qu.size();
    H.setZero(ndx + nu, ndx + nu);
    stage.qx.setZero();
    stage.qu.setZero();
    const auto add = [&](const RowMatrixX& J, int row, const RowTerms& terms) {
      if (terms.a == 0.0 && terms.b == 0.0) return;
      add_square(J, row, terms.a, H);
      stage.qx += terms.b * J.row(row).head(ndx).transpose();
      stage.qu += terms.b * J.row(row).tail(nu).transpose();
    };
    for (int i = 0; i < point.r.size(); ++i) add(rows.r, i, cost_terms(weights, layout.weight[i], point.r[i]));
    for (int i = 0; i < point.c.size(); ++i) add(rows.c, i, equality_terms(weights, rows.lambda[i], point.c[i]));
    for (int i = 0; i < point.h.size(); ++i)
      add(rows.h, i,
          is_elastic(weights, layout, i)
              ? elastic_terms(weights, point.h[i])
              : RowTerms{rows.z[i] / point.s[i], slope_of_inequality(point, rows, i, weights.barrier)});
    H.triangularView<Eigen::StrictlyUpper>() = H.transpose();
    stage.Qxx = H.topLeftCorner(ndx, ndx);
    stage.Qux = H.bottomLeftCorner(nu, ndx);
    stage.Quu = H.bottomRightCorner(nu, nu);
    stage.d = point.defect;
  });
}

void complete(const Transcription& problem, const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
              const Multipliers& weights, VectorX& motion, NewtonStep& step) {
  step.slope = 0.0;
  step.curvature = 0.0;
  for (int k = 0; k < problem.num_knots(); ++k) {
    const KnotLayout& layout = problem.at(k);
    const KnotPoint& point = points[k];
    const KnotLinear& rows = linear[k];
    motion.resize(step.dx[k].size() + step.du[k].size());
    motion.head(step.dx[k].size()) = step.dx[k];
    motion.tail(step.du[k].size()) = step.du[k];
    const auto add = [&](const RowTerms& terms, double change) {
      step.slope += terms.b * change;
      step.curvature += 0.5 * terms.a * change * change;
    };
    for (int i = 0; i < point.r.size(); ++i)
      add(cost_terms(weights, layout.weight[i], point.r[i]), rows.r.row(i).dot(motion));
    for (int i = 0; i < point.c.size(); ++i)
      add(equality_terms(weights, rows.lambda[i], point.c[i]), rows.c.row(i).dot(motion));
    for (int i = 0; i < point.h.size(); ++i) {
      const double change = rows.h.row(i).dot(motion);
      if (is_elastic(weights, layout, i)) {
        add(elastic_terms(weights, point.h[i]), change);
        step.ds[k][i] = step.dz[k][i] = 0.0;
        continue;
      }
      const double stiffness = rows.z[i] / point.s[i];
      const double ds = -(point.h[i] + point.s[i]) - change;
      step.ds[k][i] = ds;
      step.dz[k][i] = weights.barrier / point.s[i] - rows.z[i] - stiffness * ds;
      step.slope -= weights.barrier * ds / point.s[i];
      step.curvature += 0.5 * stiffness * change * change;
    }
  }
}

Totals totals(const Transcription& problem, const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
              const Multipliers& weights) {
  Totals sum;
  for (int k = 0; k < problem.num_knots(); ++k) {
    const KnotPoint& point = points[k];
    const KnotLinear& rows = linear[k];
    const KnotLayout& layout = problem.at(k);
    const VectorX& w = layout.weight;
    for (int i = 0; i < point.r.size(); ++i) sum.cost += 0.5 * w[i] * point.r[i] * point.r[i];
    for (int i = 0; i < point.c.size(); ++i) {
      const double lambda = weights.elastic ? 0.0 : rows.lambda[i];
      sum.multipliers += (lambda + 0.5 * weights.penalty * point.c[i]) * point.c[i];
      sum.worst_equality = std::max(sum.worst_equality, std::abs(point.c[i]));
    }
    for (int i = 0; i < point.h.size(); ++i) {
      sum.worst_inequality = std::max(sum.worst_inequality, point.h[i]);
      if (is_elastic(weights, layout, i)) {
        const double over = std::max(0.0, point.h[i]);
        sum.multipliers += 0.5 * weights.penalty * over * over;
        continue;
      }
      const double gap = std::abs(point.h[i] + point.s[i]);
      sum.barrier -= weights.barrier * std::log(point.s[i]);
      sum.slacks += gap;
      sum.worst_slack = std::max(sum.worst_slack, gap);
      sum.worst_product = std::max(sum.worst_product, std::abs(point.s[i] * rows.z[i] - weights.barrier));
    }
    sum.defects += point.defect.lpNorm<1>();
    if (point.defect.size() > 0) sum.worst_defect = std::max(sum.worst_defect, point.defect.lpNorm<Eigen::Infinity>());
  }
  return sum;
}

double lagrangian_gradient(const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
                           const Transcription& problem, const Multipliers& weights, const std::vector<LqStage>& stages,
                           const VectorX& scale, std::span<const int> free_start, std::vector<VectorX>& costates) {
  double largest = 0.0;
  double terms = 0.0;
  for (int k = problem.num_knots() - 1; k >= 0; --k) {
    const KnotPoint& point = points[k];
    const KnotLinear& rows = linear[k];
    const Eigen::Index ndx = stages[k].qx.size();
    const Eigen::Index nu = stages[k].qu.size();
    // the quadratic's gradient, but with the multipliers of inequalities as they are
    VectorX& p = costates[k];
    p = stages[k].qx;
    VectorX& g_u = costates[problem.num_knots()];
    g_u = stages[k].qu;
    for (int i = 0; i < point.h.size(); ++i) {
      const double change = rows.z[i] - slope_of_inequality(point, rows, i, weights.barrier);
      p += change * rows.h.row(i).head(ndx).transpose();
      g_u += change * rows.h.row(i).tail(nu).transpose();
    }
    if (k + 1 < problem.num_knots()) {
      terms = std::max(terms, g_u.cwiseProduct(scale).lpNorm<Eigen::Infinity>());
      p.noalias() += stages[k].A.transpose() * costates[k + 1];
      g_u.noalias() += stages[k].B.transpose() * costates[k + 1];
      for (int i = 0; i < nu; ++i)
        for (int j = 0; j < ndx; ++j)
          terms = std::max(terms, std::abs(stages[k].B(j, i) * costates[k + 1][j]) * scale[i]);
      largest = std::max(largest, g_u.cwiseProduct(scale).lpNorm<Eigen::Infinity>());
    }
  }
  for (const int i : free_start) largest = std::max(largest, std::abs(costates[0][i]));
  return largest / std::max(1.0, terms / kLargeTerms);
}

}  // namespace tangere::internal
