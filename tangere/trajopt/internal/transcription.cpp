#include "tangere/trajopt/internal/transcription.hpp"

#include <cmath>

namespace tangere::internal {
namespace {

void append(std::vector<TermRows>& rows, int& count, const Term& term) {
  const int size = term.function->size();
  rows.push_back({&term, count, size});
  count += size;
}

KnotLayout layout_of(const OptimalControl& problem, int knot) {
  KnotLayout layout;
  layout.time_step = knot < problem.num_steps() ? problem.horizon().time_steps[knot] : 0.0;
  for (const Term& term : problem.terms()) {
    if (knot < term.first || knot > term.last) continue;
    if (term.kind == Term::Kind::cost) append(layout.costs, layout.num_costs, term);
    if (term.kind == Term::Kind::equality) append(layout.equalities, layout.num_equalities, term);
    if (term.kind == Term::Kind::inequality) append(layout.inequalities, layout.num_inequalities, term);
  }
  layout.weight.resize(layout.num_costs);
  for (const TermRows& rows : layout.costs)
    layout.weight.segment(rows.first, rows.size) =
        rows.term->per_second ? VectorX(layout.time_step * rows.term->weight) : rows.term->weight;
  return layout;
}

/// The terms of one kind at a knot; Jacobians too, if there is room for them.
void evaluate_terms(const std::vector<TermRows>& terms, const Knot& knot, VectorX& values, RowMatrixX* jacobians) {
  const int ndx = knot.dynamics.ndx();
  const int nu = knot.dynamics.nu();
  for (const TermRows& rows : terms) {
    auto value = values.segment(rows.first, rows.size);
    if (jacobians == nullptr) {
      rows.term->function->evaluate(knot, value, nullptr);
      continue;
    }
    auto block = jacobians->middleRows(rows.first, rows.size);
    block.setZero();
    KnotJacobians J{block.leftCols(ndx), block.rightCols(nu)};
    rows.term->function->evaluate(knot, value, &J);
  }
}

std::string row_name(const TermRows& rows, int i) {
  return rows.size == 1 ? rows.term->name : rows.term->name + " " + rows.term->function->row_name(i);
}

/// The first term with a value, or a row, that is not finite.
std::string first_not_finite(const std::vector<TermRows>& terms, const VectorX& values, const RowMatrixX* jacobians) {
  for (const TermRows& rows : terms)
    for (int i = 0; i < rows.size; ++i)
      if (!std::isfinite(values[rows.first + i]) ||
          (jacobians != nullptr && !jacobians->row(rows.first + i).allFinite()))
        return row_name(rows, i);
  return {};
}

}  // namespace

Transcription::Transcription(const OptimalControl& problem) : problem_(&problem) {
  double time = 0.0;
  for (int k = 0; k <= problem.num_steps(); ++k) {
    knots_.push_back(layout_of(problem, k));
    knots_.back().time = time;
    time += knots_.back().time_step;
  }
}

void Transcription::resize(std::vector<KnotPoint>& points) const {
  const Dynamics& dynamics = problem_->dynamics();
  points.resize(num_knots());
  for (int k = 0; k < num_knots(); ++k) {
    points[k].x.setZero(dynamics.nx());
    points[k].u.setZero(dynamics.nu());
    points[k].defect.setZero(dynamics.ndx());
    points[k].r.setZero(at(k).num_costs);
    points[k].c.setZero(at(k).num_equalities);
    points[k].h.setZero(at(k).num_inequalities);
    points[k].s.setOnes(at(k).num_inequalities);
  }
}

void Transcription::resize(std::vector<KnotLinear>& linear) const {
  const int n = problem_->dynamics().ndx() + problem_->dynamics().nu();
  linear.resize(num_knots());
  for (int k = 0; k < num_knots(); ++k) {
    linear[k].r.setZero(at(k).num_costs, n);
    linear[k].c.setZero(at(k).num_equalities, n);
    linear[k].h.setZero(at(k).num_inequalities, n);
    linear[k].lambda.setZero(at(k).num_equalities);
    linear[k].z.setOnes(at(k).num_inequalities);
  }
}

Knot Transcription::knot_at(int k, const KnotPoint& point, KnotMemory& memory) const {
  memory.forget();
  return {k, at(k).time, at(k).time_step, point.x, point.u, problem_->dynamics(), memory};
}

bool Transcription::evaluate(std::vector<KnotPoint>& points, KnotMemory& memory) const {
  for (int k = 0; k < num_knots(); ++k) {
    KnotPoint& point = points[k];
    const Knot knot = knot_at(k, point, memory);
    evaluate_terms(at(k).costs, knot, point.r, nullptr);
    evaluate_terms(at(k).equalities, knot, point.c, nullptr);
    evaluate_terms(at(k).inequalities, knot, point.h, nullptr);
    if (!point.r.allFinite() || !point.c.allFinite() || !point.h.allFinite()) return false;
  }
  return true;
}

bool Transcription::linearise(std::vector<KnotPoint>& points, std::vector<KnotLinear>& linear, KnotMemory& memory,
                              Place& bad) const {
  for (int k = 0; k < num_knots(); ++k) {
    KnotPoint& point = points[k];
    KnotLinear& rows = linear[k];
    const Knot knot = knot_at(k, point, memory);
    evaluate_terms(at(k).costs, knot, point.r, &rows.r);
    evaluate_terms(at(k).equalities, knot, point.c, &rows.c);
    evaluate_terms(at(k).inequalities, knot, point.h, &rows.h);
    if (rows.r.allFinite() && rows.c.allFinite() && rows.h.allFinite()) continue;
    bad.knot = k;
    bad.name = first_not_finite(at(k).costs, point.r, &rows.r);
    if (bad.name.empty()) bad.name = first_not_finite(at(k).equalities, point.c, &rows.c);
    if (bad.name.empty()) bad.name = first_not_finite(at(k).inequalities, point.h, &rows.h);
    return false;
  }
  return true;
}

Place Transcription::not_finite(const std::vector<KnotPoint>& points) const {
  for (int k = 0; k < num_knots(); ++k) {
    std::string name = first_not_finite(at(k).costs, points[k].r, nullptr);
    if (name.empty()) name = first_not_finite(at(k).equalities, points[k].c, nullptr);
    if (name.empty()) name = first_not_finite(at(k).inequalities, points[k].h, nullptr);
    if (!name.empty()) return {k, name};
  }
  return {};
}

Place Transcription::worst(const std::vector<KnotPoint>& points, double& violation) const {
  Place place;
  violation = 0.0;
  const auto look = [&](int k, const std::vector<TermRows>& terms, const VectorX& values, bool equality) {
    for (const TermRows& rows : terms)
      for (int i = 0; i < rows.size; ++i) {
        const double value = values[rows.first + i];
        const double size = equality ? std::abs(value) : value;
        if (size <= violation) continue;
        violation = size;
        place = {k, row_name(rows, i)};
      }
  };
  for (int k = 0; k < num_knots(); ++k) {
    look(k, at(k).equalities, points[k].c, true);
    look(k, at(k).inequalities, points[k].h, false);
    if (points[k].defect.size() == 0 || points[k].defect.lpNorm<Eigen::Infinity>() <= violation) continue;
    violation = points[k].defect.lpNorm<Eigen::Infinity>();
    place = {k, "dynamics"};
  }
  return place;
}

}  // namespace tangere::internal
