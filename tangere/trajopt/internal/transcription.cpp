#include "tangere/trajopt/internal/transcription.hpp"

#include <cmath>

namespace tangere::internal {
namespace {

void append(std::vector<TermRows>& rows, int& count, const Term& term, const Dynamics& dynamics) {
  const int size = term.function->size();
  rows.push_back({&term, count, size, term.function->is_linear(dynamics)});
  count += size;
}

void append(const OptimalControl& problem, int knot, std::span<const Term> terms, KnotLayout& layout) {
  for (const Term& term : terms) {
    if (knot < term.first || knot > term.last) continue;
    const Dynamics& dynamics = problem.dynamics();
    if (term.kind == Term::Kind::cost) {
      append(layout.costs, layout.num_costs, term, dynamics);
      continue;
    }
    if (knot == 0 && problem.free_start().empty() && term.function->is_of_state()) {
      layout.given.push_back({&term, 0, term.function->size()});
      continue;
    }
    if (term.kind == Term::Kind::equality) append(layout.equalities, layout.num_equalities, term, dynamics);
    if (term.kind != Term::Kind::inequality) continue;
    append(layout.inequalities, layout.num_inequalities, term, dynamics);
    layout.on_controls.resize(layout.num_inequalities, term.function->is_of_controls());
  }
}

KnotLayout layout_of(const OptimalControl& problem, std::span<const Term> between, int knot) {
  KnotLayout layout;
  layout.time_step = knot < problem.num_steps() ? problem.horizon().time_steps[knot] : 0.0;
  append(problem, knot, problem.terms(), layout);
  append(problem, knot, between, layout);
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

Workers::Workers(const Dynamics& dynamics, int num_threads) {
  if (num_threads != 1) pool_ = std::make_unique<TaskPool>(num_threads);
  const int count = pool_ == nullptr ? 1 : pool_->num_threads();
  for (int i = 0; i < count; ++i) memories_.emplace_back(dynamics, nullptr, i);
}

void Workers::set_stepper(Stepper* stepper) {
  for (KnotMemory& memory : memories_) memory.set_stepper(stepper);
}

Transcription::Transcription(const OptimalControl& problem, std::span<const Term> between) : problem_(&problem) {
  double time = 0.0;
  for (int k = 0; k <= problem.num_steps(); ++k) {
    knots_.push_back(layout_of(problem, between, k));
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

Knot Transcription::knot_at(int k, const VectorX& x, const VectorX& u, KnotMemory& memory) const {
  memory.forget();
  return {k, at(k).time, at(k).time_step, x, u, problem_->dynamics(), memory};
}

bool Transcription::evaluate(std::vector<KnotPoint>& points, Workers& workers) const {
  workers.run(num_knots(), [&](int k, int thread) {
    KnotPoint& point = points[k];
    const Knot knot = knot_at(k, point.x, point.u, workers.memory(thread));
    evaluate_terms(at(k).costs, knot, point.r, nullptr);
    evaluate_terms(at(k).equalities, knot, point.c, nullptr);
    evaluate_terms(at(k).inequalities, knot, point.h, nullptr);
  });
  for (const KnotPoint& point : points)
    if (!point.r.allFinite() || !point.c.allFinite() || !point.h.allFinite()) return false;
  return true;
}

bool Transcription::linearise(std::vector<KnotPoint>& points, std::vector<KnotLinear>& linear, Workers& workers,
                              Place& bad) const {
  workers.run(num_knots(), [&](int k, int thread) {
    KnotPoint& point = points[k];
    KnotLinear& rows = linear[k];
    const Knot knot = knot_at(k, point.x, point.u, workers.memory(thread));
    evaluate_terms(at(k).costs, knot, point.r, &rows.r);
    evaluate_terms(at(k).equalities, knot, point.c, &rows.c);
    evaluate_terms(at(k).inequalities, knot, point.h, &rows.h);
  });
  for (int k = 0; k < num_knots(); ++k) {
    const KnotPoint& point = points[k];
    const KnotLinear& rows = linear[k];
    if (rows.r.allFinite() && rows.c.allFinite() && rows.h.allFinite()) continue;
    bad.knot = k;
    bad.name = first_not_finite(at(k).costs, point.r, &rows.r);
    if (bad.name.empty()) bad.name = first_not_finite(at(k).equalities, point.c, &rows.c);
    if (bad.name.empty()) bad.name = first_not_finite(at(k).inequalities, point.h, &rows.h);
    return false;
  }
  return true;
}

void Transcription::add_gradient(int k, const VectorX& x, const VectorX& u, const KnotPoint& point,
                                 const KnotLinear& multipliers, const GradientWeights& weights, KnotMemory& memory,
                                 KnotLinear& scratch, VectorX& gradient) const {
  const Knot knot = knot_at(k, x, u, memory);
  const int ndx = knot.dynamics.ndx();
  const int nu = knot.dynamics.nu();
  const auto add = [&](const std::vector<TermRows>& terms, RowMatrixX& J, double least, const auto& multiplier) {
    for (const TermRows& rows : terms) {
      if (rows.is_linear) continue;
      bool counts = false;
      for (int i = 0; i < rows.size; ++i) counts |= std::abs(multiplier(rows.first + i)) > least;
      if (!counts) continue;
      J.resize(rows.size, ndx + nu);
      J.setZero();
      scratch.lambda.resize(rows.size);
      KnotJacobians blocks{J.leftCols(ndx), J.rightCols(nu)};
      rows.term->function->evaluate(knot, scratch.lambda, &blocks);
      for (int i = 0; i < rows.size; ++i) gradient += multiplier(rows.first + i) * J.row(i).transpose();
    }
  };
  add(at(k).costs, scratch.r, 0.0, [&](int i) { return at(k).weight[i] * point.r[i]; });
  add(at(k).equalities, scratch.c, 0.0, [&](int i) { return multipliers.lambda[i] + weights.penalty * point.c[i]; });
  add(at(k).inequalities, scratch.h, weights.least_multiplier, [&](int i) { return multipliers.z[i]; });
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

Place Transcription::worst_at_start(const VectorX& start, KnotMemory& memory, double& violation) const {
  Place place;
  violation = 0.0;
  if (at(0).given.empty()) return place;
  const VectorX u = VectorX::Zero(problem_->dynamics().nu());
  const Knot knot = knot_at(0, start, u, memory);
  VectorX values;
  for (const TermRows& rows : at(0).given) {
    values.setZero(rows.size);
    rows.term->function->evaluate(knot, values, nullptr);
    for (int i = 0; i < rows.size; ++i) {
      const double size = rows.term->kind == Term::Kind::equality ? std::abs(values[i]) : values[i];
      if (size <= violation) continue;
      violation = size;
      place = {0, row_name(rows, i)};
    }
  }
  return place;
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
