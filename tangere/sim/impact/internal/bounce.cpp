#include "tangere/sim/impact/internal/bounce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/math/assert.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/internal/integration.hpp"

namespace tangere {
namespace {

constexpr int kMostNewtonSteps = 50;
/// Tolerance of c.
constexpr double kSettled = 1e-13;
/// Rounding of distances is less, metres.
constexpr double kMeets = 1e-10;

/// Everything flies from the start of the step: v is the velocity half a step before, v⁺ that half a step after it.
void take_off(const World& world, const State& state, HardMemory& m) {
  m.flight.q = state.q;
  m.flight.u = 0.5 * (state.v + m.v_plus);
  m.flight.a = m.v_plus - state.v;
  m.flight.since.setZero(world.nv());
}

/// State at the part c of the step; displacement and velocity, in the axes of the start, go into
/// m.impact_d and m.impact_v. The velocity is that of `ahead` of a step later.
void fly(const World& world, double c, double ahead, HardMemory& m, State& to) {
  const Flight& flight = m.flight;
  const auto x = c - flight.since.array();
  m.impact_d = world.options().time_step * x * (flight.u.array() + 0.5 * x * flight.a.array());
  m.impact_v = flight.u.array() + (x + ahead) * flight.a.array();
  advance(world, flight.q, m.impact_d, m.impact_v, to);
}

/// Whether a contact is one of the shapes that bounce.
bool is_among(const std::vector<Contact>& bouncing, const Contact& contact) {
  return std::any_of(bouncing.begin(), bouncing.end(), [&](const Contact& one) {
    return one.shape_A == contact.shape_A && one.shape_B == contact.shape_B;
  });
}

/// Contacts of the shapes that bounce, at a state: the smallest distance, and its index among `contacts` (-1: none).
int nearest_bouncing(const std::vector<Contact>& contacts, const std::vector<Contact>& bouncing) {
  int nearest = -1;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (!is_among(bouncing, contacts[i])) continue;
    if (nearest < 0 || contacts[i].distance < contacts[nearest].distance) nearest = static_cast<int>(i);
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
void place(const World& world, const State& at, HardMemory& m) {
  const Model& model = *world.impact_model();
  (void)mass_matrix(model, *m.impact_data, at.q);
  m.velocities.set(model, *m.impact_data, at.v);
  m.finder.find({.model = model,
                 .scene = world.scene(),
                 .data = *m.impact_data,
                 .velocities = m.velocities,
                 .time_step = world.options().time_step,
                 .margin = world.options().hard.margin,
                 .options = world.options().contact},
                m.impact_problem.contacts, &m.impact_problem.motions);
}

/// The part of the step, from `start` on, at which the first of the bouncing contacts meets: into m.impact. False if
/// none does. Leaves state, poses and contacts there.
bool find_impact(const World& world, double start, HardMemory& m) {
  double c = start;
  double low = start;
  double high = 1.0;
  double last_distance = std::numeric_limits<double>::infinity();
  m.impact.moves = true;
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    m.impact.time = c;
    fly(world, c, 0.0, m, m.at_impact);
    place(world, m.at_impact, m);
    const int nearest = nearest_bouncing(m.impact_problem.contacts, m.bouncing);
    if (nearest < 0) {
      // not seen from here: nearer to the end
      if (c == 1.0) return false;
      low = c;
      c = step == 0 ? 1.0 : 0.5 * (low + high);
      continue;
    }
    const auto at = static_cast<std::size_t>(nearest);
    const Contact& contact = m.impact_problem.contacts[at];
    distance_gradient(*world.impact_model(), *m.impact_data, contact, m.impact_problem.motions[at], m.impact_columns,
                      m.impact.normal);
    if (c == start && contact.distance <= 0.0) {
      // what overlaps does so since the start, or the impact before; what just meets here does so by itself
      m.impact.moves = start > 0.0 && contact.distance > -kMeets;
      return true;
    }
    if (c == 1.0 && contact.distance > 0.0) return false;
    // the distance along c: n ∂q_c/∂c
    m.impact_way.setZero(world.nv());
    m.delta = world.options().time_step * m.impact_v;
    m.grad_v = m.impact_v;
    Integration(world, m.impact_d, m.impact_v).forward(m.impact_way, m.delta, m.grad_v);
    const double slope = m.impact.normal.dot(m.impact_way);
    (contact.distance > 0.0 ? low : high) = c;
    const double change = slope < 0.0 ? -contact.distance / slope : 2.0;
    if (std::abs(change) <= kSettled || high - low <= kSettled) return true;
    // in short steps rounding of the distance does not let c settle: no nearer than before is near enough
    const double distance = std::abs(contact.distance);
    if (distance <= kMeets && distance >= last_distance) return true;
    last_distance = distance;
    const double next = c + change;
    // inside the bracket, ends included; beyond the end, the end decides
    c = next > 1.0 && high == 1.0 ? 1.0 : next >= low && next <= high ? next : 0.5 * (low + high);
  }
  return false;
}

bool is_hit(const World& world, const ImpactEvent& impact, int body) {
  const std::span<const int> way = way_of(world.model(), body);
  return !way.empty() && impact.dofs[way.front()] != 0;
}

bool is_hit(const World& world, const ImpactEvent& impact, const Contact& contact) {
  return is_hit(world, impact, contact.body_A) || is_hit(world, impact, contact.body_B);
}

/// Marks the coordinates of the tree of a body. False if it does not move, or they were marked.
bool hit_tree(const World& world, int body, ImpactEvent& impact) {
  const Model& model = world.model();
  const std::span<const int> way = way_of(model, body);
  if (way.empty() || is_hit(world, impact, body)) return false;
  const int root = way.front();
  for (int b = 0; b < model.num_bodies(); ++b)
    if (const std::span<const int> other = way_of(model, b); !other.empty() && other.front() == root)
      for (const int k : other) impact.dofs[k] = 1;
  return true;
}

/// Trees that loops and mimics join to those that are hit are hit too. False if there are none left.
bool hit_joined_trees(const World& world, ImpactEvent& impact) {
  const Model& model = world.model();
  bool more = false;
  const auto join = [&](int A, int B) {
    if (!is_hit(world, impact, A) && !is_hit(world, impact, B)) return;
    for (const int body : {A, B}) more = hit_tree(world, body, impact) || more;
  };
  for (const LoopConstraint& constraint : model.constraints()) join(constraint.body_A, constraint.body_B);
  for (int b = 0; b < model.num_bodies(); ++b)
    if (const int source = model.joint(b).mimic_source; source >= 0) join(b, source);
  return more;
}

/// The trees that meet, and whatever touches them or is joined to them. Only contacts of theirs that touch are kept.
void hit_trees(const World& world, HardMemory& m) {
  ContactProblem& problem = m.impact_problem;
  const Contact& first = problem.contacts[nearest_bouncing(problem.contacts, m.bouncing)];
  m.impact.dofs.assign(static_cast<std::size_t>(world.nv()), 0);
  (void)hit_tree(world, first.body_A, m.impact);
  (void)hit_tree(world, first.body_B, m.impact);
  const double touching = std::max(world.options().hard.touching, kMeets);
  const auto touches = [&](const Contact& contact) {
    return contact.distance <= touching && is_hit(world, m.impact, contact);
  };
  for (bool more = true; more;) {
    more = hit_joined_trees(world, m.impact);
    for (const Contact& contact : problem.contacts)
      if (touches(contact))
        for (const int body : {contact.body_A, contact.body_B}) more = hit_tree(world, body, m.impact) || more;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    if (!touches(problem.contacts[i])) continue;
    problem.contacts[kept] = problem.contacts[i];
    problem.motions[kept++] = problem.motions[i];
  }
  problem.contacts.resize(kept);
  problem.motions.resize(kept);
  m.impact.contact = nearest_bouncing(problem.contacts, m.bouncing);
  m.impact.lead = std::numeric_limits<double>::infinity();
  TANGERE_ASSERT(m.impact.contact >= 0);
  const double nearest = problem.contacts[m.impact.contact].distance;
  for (std::size_t i = 0; i < kept; ++i)
    if (static_cast<int>(i) != m.impact.contact && is_among(m.bouncing, problem.contacts[i]))
      m.impact.lead = std::min(m.impact.lead, problem.contacts[i].distance - nearest);
}

/// Whether a row pushes two trees that float against each other: on parabolas these would lose angular momentum.
bool joins_floating(const World& world, const ContactProblem& problem, const Row& row) {
  if (row.block < 0) return false;
  const int pair = problem.blocks[row.block].pair;
  const BodyRows& bodies = problem.pairs[pair];
  const auto root = [&](int body) {
    const std::span<const int> way = way_of(world.model(), body);
    const auto is_free = [&](const Joint& joint) {
      return joint.spec.type == JointType::free && joint.first_v == way.front();
    };
    const auto& joints = world.model().joints();
    return !way.empty() && std::any_of(joints.begin(), joints.end(), is_free) ? way.front() : -1;
  };
  const int A = root(bodies.body_A);
  const int B = root(bodies.body_B);
  return A >= 0 && B >= 0 && A != B;
}

/// Whether trees that are hit fly as the rows of a part, from the velocity v on, have them: rows that push them push
/// nothing else that moves, nor floating trees against each other, and normals and limits among them hold what rests. A
/// row that stops what comes at the speed w does so by the end of the part only: on the way it lets it in by up to dt w
/// / 2, and half a step before the end, where velocities are read, it may be as fast the other way.
bool rows_hold(const World& world, const ContactProblem& problem, const LcpSolution& solution, const VectorX& v,
               const ImpactEvent& impact) {
  const double touching = std::max(world.options().hard.touching, kMeets);
  const double slow = std::min(2.0 * touching / world.options().time_step, world.options().contact.bounce_speed);
  for (int r = 0; r < problem.num_rows(); ++r) {
    if (solution.f[r] == 0.0) continue;
    const auto J = problem.jacobian(world.nv()).row(r);
    bool pushes_hit = false;
    bool pushes_others = false;
    for (Eigen::Index k = 0; k < J.size(); ++k)
      if (J[k] != 0.0) (impact.dofs[k] != 0 ? pushes_hit : pushes_others) = true;
    if (!pushes_hit) continue;
    const Row& row = problem.rows[r];
    const bool stops = (row.kind == RowKind::normal || row.kind == RowKind::limit) && J.dot(v) < -slow;
    if (pushes_others || stops || joins_floating(world, problem, row)) return false;
  }
  return true;
}

/// Counts the impact. False if a tree has had too many.
bool count_impact(HardMemory& m) {
  bool few = true;
  for (std::size_t k = 0; k < m.impact.dofs.size(); ++k)
    if (m.impact.dofs[k] != 0) few = ++m.impacts_of_dof[k] <= kMostImpacts && few;
  return few;
}

/// The coordinates of trees that are hit, of positions and velocities.
void copy_hit(const World& world, const std::vector<char>& dofs, const State& from, State& to) {
  for (const Joint& joint : world.model().joints()) {
    if (joint.nv == 0 || dofs[joint.first_v] == 0) continue;
    to.q.segment(joint.first_q, joint.nq) = from.q.segment(joint.first_q, joint.nq);
    to.v.segment(joint.first_v, joint.nv) = from.v.segment(joint.first_v, joint.nv);
  }
}

/// The trees that were hit fly on from the impact, with the change of velocity that the step after it has.
void fly_on(const World& world, HardMemory& m) {
  Flight& flight = m.flight;
  const State& at = m.after_impact;
  for (const Joint& joint : world.model().joints()) {
    if (joint.nv == 0 || m.impact.dofs[joint.first_v] == 0) continue;
    flight.q.segment(joint.first_q, joint.nq) = at.q.segment(joint.first_q, joint.nq);
    flight.u.segment(joint.first_v, joint.nv) = at.v.segment(joint.first_v, joint.nv);
    flight.a.segment(joint.first_v, joint.nv) = (m.v_plus - at.v).segment(joint.first_v, joint.nv);
    flight.since.segment(joint.first_v, joint.nv).setConstant(m.impact.time);
  }
}

/// Sets aside the next bounce: contacts of trees that were hit are judged anew, all others as before.
void set_aside_next(const World& world, bool with_motions, HardMemory& m) {
  std::erase_if(m.bouncing, [&](const Contact& contact) { return is_hit(world, m.impact, contact); });
  const std::size_t others = m.bouncing.size();
  set_aside_bouncing(world, with_motions, m.after_problem, m);
  const auto first = m.bouncing.begin() + static_cast<std::ptrdiff_t>(others);
  const auto is_other = [&](const Contact& contact) { return !is_hit(world, m.impact, contact); };
  m.bouncing.erase(std::remove_if(first, m.bouncing.end(), is_other), m.bouncing.end());
}

void note(const LcpSolution& solution, StepResult& result) {
  if (solution.status != BoxedLcpStatus::solved) result.status = StepStatus::approximate_contact;
  result.residual = std::max(result.residual, solution.residual);
  result.margin = std::min({result.margin, solution.margin, solution.energy_margin});
  result.restitution_kept = std::min(result.restitution_kept, solution.restitution_kept);
}

/// The impact that was found, and the step after it. False if it does not hold.
bool pass_impact(const World& world, VectorArgument u, const LcpSolution& before, HardMemory& m, Tape* tape) {
  const bool with_motions = tape != nullptr;
  hit_trees(world, m);
  if (!count_impact(m) || !rows_hold(world, m.problem, before, m.before_impact.v, m.impact)) return false;
  const LcpSolution& impact = solve_impact(world, m.at_impact, m, m.impact.dofs);
  note(impact, m.result);
  if (tape != nullptr) {
    HardTape& hard = tape->hard();
    const auto i = static_cast<std::size_t>(hard.num_impacts++);
    if (hard.events.size() <= i) hard.events.resize(i + 1);
    if (hard.parts.size() < 2 * i + 2) hard.parts.resize(2 * i + 2);
    hard.events[i] = m.impact;
    record(m.at_impact, u, m.regions, impact, m.impact_problem, hard.parts[2 * i]);
  }
  m.impacts.insert(m.impacts.end(), m.impact_problem.contacts.begin(), m.impact_problem.contacts.end());

  // only those that were hit have another velocity
  m.after_impact = m.at_impact;
  m.at_impact.v = impact.v_plus;
  copy_hit(world, m.impact.dofs, m.at_impact, m.after_impact);
  contacts_after(world, m.after_impact, u, with_motions, m);
  set_aside_next(world, with_motions, m);
  const LcpSolution& after = solve_after(world, m.after_impact, u, with_motions, m);
  note(after, m.result);
  if (!m.v_plus.allFinite() || !rows_hold(world, m.after_problem, after, m.after_impact.v, m.impact)) return false;
  if (tape != nullptr)
    record(m.after_impact, u, m.regions, after, m.after_problem,
           tape->hard().parts[2 * static_cast<std::size_t>(tape->hard().num_impacts) - 1]);
  fly_on(world, m);
  return true;
}

/// Everything as it was, for the discrete rule.
BounceOutcome give_back(bool with_motions, HardMemory& m) {
  m.problem.contacts = m.all_contacts;
  if (with_motions) m.problem.motions = m.all_motions;
  return BounceOutcome::at_end;
}

/// Everything as it was, but what is not reached does not bounce.
BounceOutcome miss(bool with_motions, HardMemory& m) {
  (void)give_back(with_motions, m);
  for (Contact& contact : m.problem.contacts)
    if (is_among(m.bouncing, contact)) contact.restitution = 0.0;
  return BounceOutcome::missed;
}

}  // namespace

bool bounces_inside(const World& world, const HardMemory& m) {
  const WorldOptions& options = world.options();
  if (world.impact_model() == nullptr || options.hard.bounce != BounceMode::event ||
      options.integrator != Integrator::semi_implicit)
    return false;
  return std::any_of(m.problem.contacts.begin(), m.problem.contacts.end(), [&](const Contact& contact) {
    if (contact.restitution == 0.0) return false;
    const double closing = normal_velocity(world.model(), m.data, m.velocities, contact);
    return bounces(contact, closing, options.time_step, options.hard.touching, options.contact);
  });
}

void prepare_impacts(const World& world, HardMemory& m) {
  const Model& weightless = *world.impact_model();
  if (m.impact_data == nullptr) m.impact_data = std::make_unique<Data>(weightless);
  if (m.impact_lcp != nullptr) return;
  m.impact_lcp = std::make_unique<LcpContact>(weightless);
  m.after_lcp = std::make_unique<LcpContact>(world.model());
}

void set_aside_bouncing(const World& world, bool with_motions, ContactProblem& problem, HardMemory& m) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    const Contact& contact = problem.contacts[i];
    const double closing = normal_velocity(world.model(), m.data, m.velocities, contact);
    const WorldOptions& options = world.options();
    if (bounces(contact, closing, options.time_step, options.hard.touching, options.contact)) {
      m.bouncing.push_back(contact);
      continue;
    }
    if (with_motions) problem.motions[kept] = problem.motions[i];
    problem.contacts[kept++] = contact;
  }
  problem.contacts.resize(kept);
  if (with_motions) problem.motions.resize(kept);
}

const LcpSolution& solve_impact(const World& world, const State& at, HardMemory& m, std::span<const char> hit) {
  const Model& weightless = *world.impact_model();
  factor_mass_matrix(weightless, *m.impact_data);
  m.builder.build({.model = weightless,
                   .scales = world.scales(),
                   .data = *m.impact_data,
                   .velocities = m.velocities,
                   .q = at.q,
                   .fastest = at.v,
                   .time_step = 0.0,
                   .contact = world.options().contact,
                   .hard = world.options().hard,
                   .with_motions = true,
                   .only = hit},
                  m.impact_problem);
  m.impact_lcp->warm_start().keys.clear();
  m.impact_lcp->warm_start().sets.clear();
  const LcpSolution& impact = m.impact_lcp->solve(weightless, *m.impact_data, m.impact_problem, at.v,
                                                  {.tolerance = world.options().hard.tolerance});
  set_impulses(impact, m.impact_problem);
  return impact;
}

void contacts_after(const World& world, const State& at, VectorArgument u, bool with_motions, HardMemory& m) {
  smooth_dynamics(world, world.options().time_step, at, u, m);
  find_contacts(world, at, with_motions, m.after_problem, m);
}

const LcpSolution& solve_after(const World& world, const State& at, VectorArgument u, bool with_motions,
                               HardMemory& m) {
  m.after_lcp->warm_start().keys.clear();
  m.after_lcp->warm_start().sets.clear();
  return solve_rows(world, at, u, with_motions, *m.after_lcp, m.after_problem, m);
}

BounceOutcome bounce_step(const World& world, const State& state, VectorArgument u, HardMemory& m, State& next,
                          Tape* tape) {
  const bool with_motions = tape != nullptr;
  prepare_impacts(world, m);

  // without what bounces
  m.all_contacts = m.problem.contacts;
  if (with_motions) m.all_motions = m.problem.motions;
  m.bouncing.clear();
  set_aside_bouncing(world, with_motions, m.problem, m);
  m.before_impact = state;
  const LcpSolution& before = solve_rows(world, state, u, with_motions, m.lcp, m.problem, m);
  if (!m.v_plus.allFinite()) return give_back(with_motions, m);
  set_result(before, m.problem, m.result);
  if (tape != nullptr) record(m.before_impact, u, m.regions, before, m.problem, *tape);
  take_off(world, state, m);

  // impact after impact
  m.impacts.clear();
  m.impacts_of_dof.assign(static_cast<std::size_t>(world.nv()), 0);
  m.impact.time = 0.0;
  while (find_impact(world, m.impact.time, m))
    if (!pass_impact(world, u, before, m, tape)) return give_back(with_motions, m);
  if (m.impacts.empty()) return miss(with_motions, m);

  // the trees that met fly to the end, the others are where they would be without impacts
  fly(world, 1.0, -0.5, m, m.after_impact);
  m.delta = world.options().time_step * before.v_plus;
  advance(world, m.before_impact.q, m.delta, before.v_plus, next);
  for (std::size_t k = 0; k < m.impact.dofs.size(); ++k) m.impact.dofs[k] = m.impacts_of_dof[k] > 0 ? 1 : 0;
  copy_hit(world, m.impact.dofs, m.after_impact, next);
  m.result.impacts = m.impacts;
  if (tape != nullptr) tape->status = m.result.status;
  return BounceOutcome::inside;
}

}  // namespace tangere
