#include "tangere/trajopt/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/trajopt/internal/knot_functions.hpp"
#include "tangere/trajopt/internal/selected_rows.hpp"

namespace tangere {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One entry stands for all.
VectorX spread_over(const std::string& field, const VectorX& given, int size) {
  if (given.size() == 1) return VectorX::Constant(size, given[0]);
  if (given.size() != size)
    throw InputError(field, "must have 1 or " + std::to_string(size) + " entries, got " + std::to_string(given.size()));
  return given;
}

void require_size(const std::string& field, Eigen::Index got, int wanted) {
  if (got != wanted)
    throw InputError(field, "must have " + std::to_string(wanted) + " entries, got " + std::to_string(got));
}

VectorX weights_of(const VectorX& given, int size) {
  VectorX weight = spread_over("weight", given, size);
  for (const double w : weight)
    if (!(w >= 0.0 && w < kInfinity))
      throw InputError("weight", "must be finite and not negative, got " + internal::to_text(w));
  return weight;
}

void require_order(const VectorX& lower, const VectorX& upper) {
  for (Eigen::Index i = 0; i < lower.size(); ++i)
    if (!(lower[i] < upper[i]))
      throw InputError("lower[" + std::to_string(i) + "]", "must be below upper, got " + internal::to_text(lower[i]) +
                                                               " and " + internal::to_text(upper[i]));
}

std::vector<internal::Side> sides_of(const VectorX& lower, const VectorX& upper,
                                     const std::function<std::string(int)>& name) {
  std::vector<internal::Side> sides;
  for (int i = 0; i < lower.size(); ++i) {
    if (upper[i] < kInfinity) sides.push_back({i, 1.0, upper[i], name(i) + " above its upper bound"});
    if (lower[i] > -kInfinity) sides.push_back({i, -1.0, lower[i], name(i) + " below its lower bound"});
  }
  return sides;
}

int counted_from_start(int knot, int num_steps) { return knot < 0 ? knot + num_steps + 1 : knot; }

/// Where tangent coordinate `i` is in x, or -1 for a turn of a ball or free joint.
int index_in_state(const Dynamics& dynamics, int i) {
  const Model* model = dynamics.model();
  if (model == nullptr) return i;
  if (i >= model->nv()) return model->nq() + i - model->nv();
  for (const Joint& joint : model->joints())
    if (i >= joint.first_v && i < joint.first_v + joint.nv)
      return joint.nq == joint.nv ? joint.first_q + i - joint.first_v : -1;
  return -1;
}

int body_of(const Dynamics& dynamics, const std::string& term, const std::string& body) {
  if (dynamics.model() == nullptr) throw InputError(term + ".body", "needs dynamics with a model");
  if (!dynamics.has_fixed_geometry()) throw InputError(term + ".body", "has a place that the design changes");
  return dynamics.model()->body_index(body);
}

}  // namespace

StateBounds StateBounds::joint_limits(const Model& model) {
  StateBounds bounds{.name = "joint limits",
                     .lower = VectorX::Constant(2 * model.nv(), -kInfinity),
                     .upper = VectorX::Constant(2 * model.nv(), kInfinity)};
  for (const Joint& joint : model.joints()) {
    if (joint.nq != joint.nv) continue;
    for (int k = joint.first_v; k < joint.first_v + joint.nv; ++k) {
      bounds.lower[k] = model.dofs()[k].lower;
      bounds.upper[k] = model.dofs()[k].upper;
    }
  }
  return bounds;
}

OptimalControl::OptimalControl(std::shared_ptr<const Dynamics> dynamics, Horizon horizon)
    : dynamics_(std::move(dynamics)), horizon_(std::move(horizon)) {
  if (dynamics_ == nullptr) throw InputError("dynamics", "are missing");
  if (num_steps() < 1) throw InputError("time_steps", "must have at least one entry");
  for (const double step : horizon_.time_steps)
    if (!(step > 0.0 && step < kInfinity))
      throw InputError("time_steps", "must be positive and finite, got " + internal::to_text(step));
  if (dynamics_->nu() < 1) throw InputError("dynamics.nu", "must be at least 1: there is nothing to choose");
  set_start(horizon_.start);
  if (horizon_.free_start.size() > 0) require_size("free_start", horizon_.free_start.size(), dynamics_->ndx());
  for (int i = 0; i < horizon_.free_start.size(); ++i)
    if (horizon_.free_start[i] != 0.0) free_start_.push_back(i);
  lower_.setConstant(dynamics_->nu(), num_steps(), -kInfinity);
  upper_.setConstant(dynamics_->nu(), num_steps(), kInfinity);
}

void OptimalControl::set_start(const VectorX& start) {
  require_size("start", start.size(), dynamics_->nx());
  if (!start.allFinite()) throw InputError("start", "must be finite");
  horizon_.start = start;
}

OptimalControl OptimalControl::with_dynamics(std::shared_ptr<const Dynamics> dynamics) const {
  if (dynamics == nullptr) throw InputError("dynamics", "are missing");
  const bool fits =
      dynamics->nx() == dynamics_->nx() && dynamics->ndx() == dynamics_->ndx() && dynamics->nu() == dynamics_->nu();
  if (!fits) throw InputError("dynamics", "must have the sizes of the problem's");
  OptimalControl out = *this;
  out.dynamics_ = std::move(dynamics);
  return out;
}

void OptimalControl::add(Term term, Knots knots) {
  internal::with_prefix(term.name, [&] {
    term.first = counted_from_start(knots.first, num_steps());
    term.last = counted_from_start(knots.last, num_steps());
    if (term.first < 0 || term.last > num_steps() || term.first > term.last)
      throw InputError("knots", "must be from 0 to " + std::to_string(num_steps()) + " and in order, got " +
                                    std::to_string(knots.first) + " and " + std::to_string(knots.last));
    term.function->verify(*dynamics_);
    if (term.kind == Term::Kind::cost) term.weight = weights_of(term.weight, term.function->size());
  });
  terms_.push_back(std::move(term));
}

void OptimalControl::add(const StateCost& cost) {
  MatrixX targets = cost.target;
  if (cost.path.size() > 0) {
    if (cost.path.cols() != num_steps() + 1)
      throw InputError(cost.name + ".path", "must have " + std::to_string(num_steps() + 1) + " columns, got " +
                                                std::to_string(cost.path.cols()));
    targets = cost.path;
  }
  std::vector<int> all(dynamics_->ndx());
  std::iota(all.begin(), all.end(), 0);
  add({.name = cost.name,
       .function = std::make_shared<internal::StateDifference>(std::move(targets), std::move(all)),
       .weight = cost.weight,
       .per_second = cost.per_second},
      cost.knots);
}

void OptimalControl::add(const ControlCost& cost) {
  VectorX target = cost.target;
  if (target.size() == 0) target.setZero(dynamics_->nu());
  if (counted_from_start(cost.knots.last, num_steps()) == num_steps())
    throw InputError(cost.name + ".knots", "must end before the last one, which has no control");
  add({.name = cost.name,
       .function = std::make_shared<internal::ControlDifference>(std::move(target)),
       .weight = cost.weight,
       .per_second = cost.per_second},
      cost.knots);
}

void OptimalControl::add(const FrameCost& cost) {
  add({.name = cost.name,
       .function = std::make_shared<internal::FrameDifference>(body_of(*dynamics_, cost.name, cost.body), cost.X_BF,
                                                               cost.target, false),
       .weight = cost.weight,
       .per_second = cost.per_second},
      cost.knots);
}

void OptimalControl::add(const CenterOfMassCost& cost) {
  add({.name = cost.name,
       .function = std::make_shared<internal::CenterOfMassDifference>(cost.target),
       .weight = cost.weight,
       .per_second = cost.per_second},
      cost.knots);
}

void OptimalControl::add(const ResidualCost& cost) {
  add({.name = cost.name,
       .function = std::make_shared<internal::OwnVector>(cost.size, cost.residual),
       .weight = cost.weight,
       .per_second = cost.per_second},
      cost.knots);
}

void OptimalControl::add(const ControlBounds& bounds) {
  const int nu = dynamics_->nu();
  VectorX lower, upper;
  internal::with_prefix(bounds.name, [&] {
    lower = spread_over("lower", bounds.lower, nu);
    upper = spread_over("upper", bounds.upper, nu);
    require_order(lower, upper);
    if (counted_from_start(bounds.knots.last, num_steps()) == num_steps())
      throw InputError("knots", "must end before the last one, which has no control");
  });
  const auto name = [&](int i) { return dynamics_->control_name(i); };
  add({.name = bounds.name,
       .kind = Term::Kind::inequality,
       .function = std::make_shared<internal::ControlSides>(sides_of(lower, upper, name))},
      bounds.knots);
  for (int k = terms_.back().first; k <= terms_.back().last; ++k) {
    lower_.col(k) = lower_.col(k).cwiseMax(lower);
    upper_.col(k) = upper_.col(k).cwiseMin(upper);
  }
}

void OptimalControl::add(const StateBounds& bounds) {
  const int ndx = dynamics_->ndx();
  std::vector<internal::Side> sides;
  std::vector<int> index;
  internal::with_prefix(bounds.name, [&] {
    const VectorX lower = spread_over("lower", bounds.lower, ndx);
    const VectorX upper = spread_over("upper", bounds.upper, ndx);
    require_order(lower, upper);
    sides = sides_of(lower, upper, [&](int i) { return dynamics_->state_name(i); });
    for (const internal::Side& side : sides) {
      index.push_back(index_in_state(*dynamics_, side.coordinate));
      if (index.back() < 0)
        throw InputError("lower", "of " + dynamics_->state_name(side.coordinate) + " must be infinite: it is a turn");
    }
  });
  add({.name = bounds.name,
       .kind = Term::Kind::inequality,
       .function = std::make_shared<internal::StateSides>(std::move(sides), std::move(index))},
      bounds.knots);
}

void OptimalControl::add(const Reach& reach) {
  std::vector<int> coordinates;
  if (reach.mask.size() != 0)
    internal::with_prefix(reach.name, [&] { require_size("mask", reach.mask.size(), dynamics_->ndx()); });
  for (int i = 0; i < dynamics_->ndx(); ++i)
    if (reach.mask.size() == 0 || reach.mask[i] != 0.0) coordinates.push_back(i);
  add({.name = reach.name,
       .kind = Term::Kind::equality,
       .function = std::make_shared<internal::StateDifference>(reach.target, std::move(coordinates))},
      reach.knots);
}

void OptimalControl::add(const ReachFrame& reach) {
  std::shared_ptr<const KnotFunction> function = std::make_shared<internal::FrameDifference>(
      body_of(*dynamics_, reach.name, reach.body), reach.X_BF, reach.target, reach.position_only);
  const int size = function->size();
  if ((reach.mask.head(size).array() == 0.0).any()) {
    constexpr std::array<const char*, 6> kNames = {"x", "y", "z", "rx", "ry", "rz"};
    std::vector<internal::SelectedRow> rows;
    for (int i = 0; i < size; ++i)
      if (reach.mask[i] != 0.0) rows.push_back({.index = i, .name = kNames[i]});
    function = std::make_shared<internal::SelectedRows>(std::move(function), std::move(rows));
  }
  add({.name = reach.name, .kind = Term::Kind::equality, .function = std::move(function)}, reach.knots);
}

void OptimalControl::add(const FrameBounds& bounds) {
  std::vector<internal::SelectedRow> rows;
  internal::with_prefix(bounds.name, [&] { require_order(bounds.lower, bounds.upper); });
  for (const internal::Side& side :
       sides_of(bounds.lower, bounds.upper, [](int i) { return std::string(1, static_cast<char>('x' + i)); }))
    rows.push_back({side.coordinate, side.sign, side.limit, side.name});
  std::shared_ptr<const KnotFunction> place = std::make_shared<internal::FrameDifference>(
      body_of(*dynamics_, bounds.name, bounds.body), bounds.X_BF, Pose{}, true);
  add({.name = bounds.name,
       .kind = Term::Kind::inequality,
       .function = std::make_shared<internal::SelectedRows>(std::move(place), std::move(rows))},
      bounds.knots);
}

void OptimalControl::add(const Equality& equality) {
  add({.name = equality.name,
       .kind = Term::Kind::equality,
       .function = std::make_shared<internal::OwnVector>(equality.size, equality.value)},
      equality.knots);
}

void OptimalControl::add(const Inequality& inequality) {
  add({.name = inequality.name,
       .kind = Term::Kind::inequality,
       .function = std::make_shared<internal::OwnVector>(inequality.size, inequality.value),
       .between_knots = inequality.between_knots},
      inequality.knots);
}

}  // namespace tangere
