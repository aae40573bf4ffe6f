#include "tangere/sim/bounce.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/integration.hpp"

namespace tangere {
namespace {

constexpr int kMostNewtonSteps = 30;
/// Contacts that are this near when the first one meets (in units of the way of a step) bounce with it.
constexpr double kTogether = 1e-9;

/// d and v on the way to the part c of the step, into m.impact_d and m.impact_v: dt [(c + k) v_f − k v] and
/// (c + ½) v_f − (c − ½) v.
void fly(const World& world, double c, Workspace::Memory& m) {
  const double k = 0.5 * (c * c - c);
  const VectorX& v = m.before_impact.v;
  const VectorX& v_f = m.v_without;
  m.impact_d = world.options().time_step * ((c + k) * v_f - k * v);
  m.impact_v = (c + 0.5) * v_f - (c - 0.5) * v;
  advance(world, m.before_impact.q, m.impact_d, m.impact_v, m.at_impact);
}

/// Contacts of the shapes that bounce, at a state: the smallest distance, and its index among `contacts` (-1: none).
int nearest_bouncing(const std::vector<Contact>& contacts, const std::vector<Contact>& bouncing) {
  int nearest = -1;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const bool same = std::any_of(bouncing.begin(), bouncing.end(), [&](const Contact& one) {
      return one.shape_A == contacts[i].shape_A && one.shape_B == contacts[i].shape_B;
    });
    if (!same) continue;
    if (nearest < 0 || contacts[i].distance < contacts[static_cast<std::size_t>(nearest)].distance)
      nearest = static_cast<int>(i);
  }
  return nearest;
}

/// n J: the gradient of a contact's distance with respect to q.
void distance_gradient(const Model& model, const Data& data, const Contact& contact, const FrameMotion& motion,
                       Matrix6X& columns, VectorX& out) {
  out.setZero(model.nv());
  if (columns.cols() != model.nv()) columns.setZero(6, model.nv());
  for (const int side : {0, 1}) {
    const int body = side == 0 ? contact.body_A : contact.body_B;
    const std::span<const int> way = way_of(model, body);
    way_columns(model, data, body, contact.point, columns.leftCols(static_cast<Eigen::Index>(way.size())));
    for (std::size_t k = 0; k < way.size(); ++k)
      out[way[k]] += motion.distance.segment<6>(6 * side).dot(columns.col(static_cast<Eigen::Index>(k)));
  }
}

/// Poses and contacts at a state of the flight, by the weightless model.
void place(const World& world, const State& at, Workspace::Memory& m) {
  const Model& model = *world.impact_model();
  (void)mass_matrix(model, *m.impact_data, at.q);
  m.velocities.set(model, *m.impact_data, at.v);
  m.finder.find(model, world.scene(), *m.impact_data, m.velocities, world.options().time_step, world.options().contact,
                m.impact_problem.contacts, &m.impact_problem.motions);
}

/// The part of the step at which the first of the bouncing contacts meets. Leaves state, poses and contacts there.
double find_impact(const World& world, Workspace::Memory& m) {
  double c = 0.0;
  double low = 0.0;
  double high = 1.0;
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    fly(world, c, m);
    place(world, m.at_impact, m);
    const int nearest = nearest_bouncing(m.impact_problem.contacts, m.bouncing);
    if (nearest < 0) {
      // not seen from here: nearer to the end
      low = c;
      c = 0.5 * (low + high);
      continue;
    }
    const auto at = static_cast<std::size_t>(nearest);
    const Contact& contact = m.impact_problem.contacts[at];
    distance_gradient(*world.impact_model(), *m.impact_data, contact, m.impact_problem.motions[at], m.impact_columns,
                      m.impact_normal);
    if (c == 0.0 && contact.distance <= 0.0) return 0.0;
    // the distance along c: n ∂q_c/∂c
    m.impact_way.setZero(world.nv());
    m.delta = world.options().time_step * m.impact_v;
    m.grad_v = m.impact_v;
    Integration(world.model(), m.impact_d, m.impact_v).forward(m.impact_way, m.delta, m.grad_v);
    const double slope = m.impact_normal.dot(m.impact_way);
    (contact.distance > 0.0 ? low : high) = c;
    const double change = slope < 0.0 ? -contact.distance / slope : 0.0;
    if (std::abs(change) <= 1e-15 || high - low <= 1e-15) break;
    const double next = c + change;
    // inside the bracket, ends included
    c = next >= low && next <= high ? next : 0.5 * (low + high);
  }
  return c;
}

/// Only what touches at the impact takes part in it.
void keep_touching(const World& world, Workspace::Memory& m) {
  ContactProblem& problem = m.impact_problem;
  const double reach = std::max(world.options().contact.touching,
                                kTogether * world.options().time_step * (1.0 + m.at_impact.v.cwiseAbs().maxCoeff()));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    if (problem.contacts[i].distance > reach) continue;
    problem.contacts[kept] = problem.contacts[i];
    problem.motions[kept] = problem.motions[i];
    ++kept;
  }
  problem.contacts.resize(kept);
  problem.motions.resize(kept);
}

void take_over(const LcpSolution& solution, StepResult& result) {
  if (solution.status != BoxedLcpStatus::solved) result.status = StepStatus::approximate_contact;
  result.residual = std::max(result.residual, solution.residual);
  result.margin = std::min(result.margin, solution.margin);
}

}  // namespace

bool bounces_inside(const World& world, const Workspace::Memory& m) {
  const WorldOptions& options = world.options();
  if (world.impact_model() == nullptr || options.contact.bounce != BounceMode::event ||
      options.integrator != Integrator::semi_implicit)
    return false;
  return std::any_of(m.problem.contacts.begin(), m.problem.contacts.end(), [&](const Contact& contact) {
    if (contact.restitution == 0.0) return false;
    const double closing = normal_velocity(world.model(), m.data, m.velocities, contact);
    return bounces(contact, closing, options.time_step, options.contact);
  });
}

void bounce_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m, State& next,
                 Tape* tape) {
  const WorldOptions& options = world.options();
  const double dt = options.time_step;
  if (m.impact_data == nullptr) {
    m.impact_data = std::make_unique<Data>(*world.impact_model());
    m.impact_lcp = std::make_unique<LcpContact>(*world.impact_model());
  }

  // without what bounces
  m.bouncing.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < m.problem.contacts.size(); ++i) {
    const Contact& contact = m.problem.contacts[i];
    const double closing = normal_velocity(world.model(), m.data, m.velocities, contact);
    if (bounces(contact, closing, dt, options.contact)) {
      m.bouncing.push_back(contact);
      continue;
    }
    if (tape != nullptr) m.problem.motions[kept] = m.problem.motions[i];
    m.problem.contacts[kept++] = contact;
  }
  m.problem.contacts.resize(kept);
  if (tape != nullptr) m.problem.motions.resize(kept);
  m.before_impact = state;
  const LcpSolution& before = solve_rows(world, state, tape != nullptr, m);
  const StepResult first = m.result;
  if (tape != nullptr) record(state, u, before, m.problem, *tape);
  m.v_without = m.v_plus;

  // the impact
  const double c = find_impact(world, m);
  keep_touching(world, m);
  const Model& weightless = *world.impact_model();
  factor_mass_matrix(weightless, *m.impact_data);
  m.builder.build(weightless, world.scales(), *m.impact_data, m.velocities, m.at_impact.q, m.at_impact.v, 0.0,
                  options.contact, true, m.impact_problem);
  m.impact_lcp->warm_start().keys.clear();
  m.impact_lcp->warm_start().sets.clear();
  const LcpSolution& impact = m.impact_lcp->solve(weightless, *m.impact_data, m.impact_problem, m.at_impact.v,
                                                  {.tolerance = options.contact.tolerance});
  set_impulses(impact, m.impact_problem);
  if (tape != nullptr) {
    tape->parts.resize(2);
    tape->impact_time = c;
    tape->impact_normal = m.impact_normal;
    record(m.at_impact, u, impact, m.impact_problem, tape->parts[0]);
  }

  // the step after it
  m.after_impact.q = m.at_impact.q;
  m.after_impact.v = impact.v_plus;
  const VectorX& v_p = m.after_impact.v;
  smooth_dynamics(world, m.after_impact, u, m);
  m.velocities.set(world.model(), m.data, v_p);
  m.finder.find(world.model(), world.scene(), m.data, m.velocities, dt, options.contact, m.problem.contacts,
                tape != nullptr ? &m.problem.motions : nullptr);
  const LcpSolution& then = solve_rows(world, m.after_impact, tape != nullptr, m);
  if (tape != nullptr) record(m.after_impact, u, then, m.problem, tape->parts[1]);

  const double k = 0.5 * (c * c - c);
  m.v_plus -= v_p;
  m.impact_v = v_p - (c - 0.5) * m.v_plus;
  m.impact_d = dt * ((1.0 - c) * m.impact_v - k * m.v_plus);
  advance(world, m.after_impact.q, m.impact_d, m.impact_v, next);

  take_over(impact, m.result);
  m.result.residual = std::max(m.result.residual, first.residual);
  m.result.margin = std::min(m.result.margin, first.margin);
  if (first.status != StepStatus::solved) m.result.status = first.status;
  m.result.impacts = m.impact_problem.contacts;
  if (tape != nullptr) tape->status = m.result.status;
}

}  // namespace tangere
