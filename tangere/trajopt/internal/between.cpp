#include "tangere/trajopt/internal/between.hpp"

#include <cmath>
#include <limits>

#include "tangere/math/error.hpp"

namespace tangere::internal {

void BetweenKnots::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  if (knot.memory.stepper() == nullptr) throw InputError("stepper", "is needed for states between knots");
  KnotMemory& memory = knot.memory.second(knot.dynamics);
  thread_local VectorX x;
  thread_local MatrixX A, B;
  thread_local RowMatrixX inner_J;
  const bool made = knot.memory.stepper()->between(knot.index, knot.memory.thread(), knot.x, knot.u, tau_, x,
                                                   J == nullptr ? nullptr : &A, J == nullptr ? nullptr : &B);
  if (!made) {
    value.setConstant(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  memory.forget();
  const Knot at{knot.index, knot.time + tau_ * knot.time_step, knot.time_step, x, knot.u, knot.dynamics, memory};
  if (J == nullptr) {
    inner_->evaluate(at, value, nullptr);
    return;
  }
  const int ndx = knot.dynamics.ndx();
  const int nu = knot.dynamics.nu();
  inner_J.resize(size(), ndx + nu);
  inner_J.setZero();
  KnotJacobians blocks{inner_J.leftCols(ndx), inner_J.rightCols(nu)};
  inner_->evaluate(at, value, &blocks);
  J->x.noalias() = inner_J.leftCols(ndx) * A;
  J->u = inner_J.rightCols(nu);
  J->u.noalias() += inner_J.leftCols(ndx) * B;
}

namespace {

/// Whether the rows have one of this function near this part of the step.
bool has_row(const std::vector<Term>& inserted, const KnotFunction* inner, int knot, double tau, double distance) {
  for (const Term& term : inserted) {
    const auto* row = dynamic_cast<const BetweenKnots*>(term.function.get());
    if (row != nullptr && row->inner() == inner && term.first == knot && std::abs(row->tau() - tau) < distance)
      return true;
  }
  return false;
}

}  // namespace

double insert_between(const OptimalControl& problem, const std::vector<KnotPoint>& points, int count, double tolerance,
                      KnotMemory& memory, std::vector<Term>& inserted, Place& worst) {
  double largest = 0.0;
  std::vector<Term> more;
  VectorX x, value;
  for (int k = 0; k < problem.num_steps(); ++k) {
    for (const Term& term : problem.terms()) {
      if (!term.between_knots || k < term.first || k + 1 > term.last) continue;
      double most = tolerance;
      double place = 0.0;
      value.setZero(term.function->size());
      for (int i = 1; i < count; ++i) {
        const double tau = static_cast<double>(i) / count;
        if (!memory.stepper()->between(k, memory.thread(), points[k].x, points[k].u, tau, x, nullptr, nullptr)) break;
        KnotMemory& own = memory.second(problem.dynamics());
        own.forget();
        term.function->evaluate({k, 0.0, problem.horizon().time_steps[k], x, points[k].u, problem.dynamics(), own},
                                value, nullptr);
        const double h = value.maxCoeff();
        if (h > largest) {
          largest = h;
          worst = {k, term.name + " between the knots"};
        }
        if (h <= most) continue;
        most = h;
        place = tau;
      }
      if (place == 0.0 || has_row(inserted, term.function.get(), k, place, 0.5 / count)) continue;
      Term row = term;
      row.name += " between the knots";
      row.function = std::make_shared<BetweenKnots>(term.function, place);
      row.between_knots = false;
      row.first = row.last = k;
      more.push_back(std::move(row));
    }
  }
  inserted.insert(inserted.end(), more.begin(), more.end());
  return largest;
}

}  // namespace tangere::internal
