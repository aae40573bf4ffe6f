#include "tangere/sim/bounce.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/integration.hpp"

namespace tangere {
namespace {

constexpr int kMostNewtonSteps = 50;
/// Of c: rounding of the distance does not let it be found more exactly.
constexpr double kSettled = 1e-13;

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

/// The part of the step at which the first of the bouncing contacts meets; negative if none does. Leaves state, poses
/// and contacts there.
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
      if (c == 1.0) return -1.0;
      low = c;
      c = step == 0 ? 1.0 : 0.5 * (low + high);
      continue;
    }
    const auto at = static_cast<std::size_t>(nearest);
    const Contact& contact = m.impact_problem.contacts[at];
    distance_gradient(*world.impact_model(), *m.impact_data, contact, m.impact_problem.motions[at], m.impact_columns,
                      m.impact_normal);
    if (c == 0.0 && contact.distance <= 0.0) return 0.0;
    if (c == 1.0 && contact.distance > 0.0) return -1.0;
    // the distance along c: n ∂q_c/∂c
    m.impact_way.setZero(world.nv());
    m.delta = world.options().time_step * m.impact_v;
    m.grad_v = m.impact_v;
    Integration(world, m.impact_d, m.impact_v).forward(m.impact_way, m.delta, m.grad_v);
    const double slope = m.impact_normal.dot(m.impact_way);
    (contact.distance > 0.0 ? low : high) = c;
    const double change = slope < 0.0 ? -contact.distance / slope : 2.0;
    if (std::abs(change) <= kSettled || high - low <= kSettled) return c;
    const double next = c + change;
    // inside the bracket, ends included; beyond the end, the end decides
    c = next > 1.0 && high == 1.0 ? 1.0 : next >= low && next <= high ? next : 0.5 * (low + high);
  }
  return -1.0;
}

/// Marks the coordinates of the trees of the bouncing contacts.
void mark_trees(const World& world, Workspace::Memory& m) {
  const Model& model = world.model();
  m.bouncing_dofs.assign(static_cast<std::size_t>(world.nv()), 0);
  const auto root_of = [&](int body) {
    const std::span<const int> way = way_of(model, body);
    return way.empty() ? -1 : way.front();
  };
  for (const Contact& contact : m.bouncing) {
    for (const int touched : {contact.body_A, contact.body_B}) {
      const int root = root_of(touched);
      if (root < 0) continue;
      for (int b = 0; b < model.num_bodies(); ++b)
        if (root_of(b) == root)
          for (const int k : way_of(model, b)) m.bouncing_dofs[static_cast<std::size_t>(k)] = 1;
    }
  }
}

bool is_marked(const World& world, const Workspace::Memory& m, int body) {
  const std::span<const int> way = way_of(world.model(), body);
  return !way.empty() && m.bouncing_dofs[static_cast<std::size_t>(way.front())] != 0;
}

/// Whether some row pushes the marked trees.
bool pushes_marked(const World& world, const ContactProblem& problem, const LcpSolution& solution,
                   const Workspace::Memory& m) {
  const auto nv = static_cast<std::size_t>(world.nv());
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    if (solution.f[static_cast<Eigen::Index>(r)] == 0.0) continue;
    for (std::size_t k = 0; k < nv; ++k)
      if (m.bouncing_dofs[k] != 0 && problem.J[r * nv + k] != 0.0) return true;
  }
  return false;
}

/// Contacts of the marked trees that touch at the impact. False if one is with another tree that moves.
bool keep_touching(const World& world, Workspace::Memory& m) {
  ContactProblem& problem = m.impact_problem;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    const Contact& contact = problem.contacts[i];
    const bool A = is_marked(world, m, contact.body_A);
    const bool B = is_marked(world, m, contact.body_B);
    if (contact.distance > world.options().contact.touching || (!A && !B)) continue;
    const bool A_moves = !way_of(world.model(), contact.body_A).empty();
    const bool B_moves = !way_of(world.model(), contact.body_B).empty();
    if ((A_moves && !A) || (B_moves && !B)) return false;
    problem.contacts[kept] = contact;
    problem.motions[kept] = problem.motions[i];
    ++kept;
  }
  problem.contacts.resize(kept);
  problem.motions.resize(kept);
  return kept > 0;
}

/// Everything as it was, for the step by other means.
void restore(bool missed, bool with_motions, Workspace::Memory& m) {
  m.problem.contacts = m.all_contacts;
  if (with_motions) m.problem.motions = m.all_motions;
  if (!missed) return;
  for (Contact& contact : m.problem.contacts)
    for (const Contact& one : m.bouncing)
      if (contact.shape_A == one.shape_A && contact.shape_B == one.shape_B) contact.restitution = 0.0;
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

void prepare_impacts(const World& world, Workspace::Memory& m) {
  const Model& weightless = *world.impact_model();
  if (m.impact_data == nullptr) m.impact_data = std::make_unique<Data>(weightless);
  if (m.impact_lcp != nullptr) return;
  m.impact_lcp = std::make_unique<LcpContact>(weightless);
  m.after_lcp = std::make_unique<LcpContact>(world.model());
}

void set_aside_bouncing(const World& world, bool with_motions, Workspace::Memory& m) {
  m.all_contacts = m.problem.contacts;
  if (with_motions) m.all_motions = m.problem.motions;
  m.bouncing.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < m.all_contacts.size(); ++i) {
    const Contact& contact = m.all_contacts[i];
    const double closing = normal_velocity(world.model(), m.data, m.velocities, contact);
    if (bounces(contact, closing, world.options().time_step, world.options().contact)) {
      m.bouncing.push_back(contact);
      continue;
    }
    if (with_motions) m.problem.motions[kept] = m.all_motions[i];
    m.problem.contacts[kept++] = contact;
  }
  m.problem.contacts.resize(kept);
  if (with_motions) m.problem.motions.resize(kept);
}

const LcpSolution& solve_impact(const World& world, const State& at, Workspace::Memory& m) {
  const Model& weightless = *world.impact_model();
  factor_mass_matrix(weightless, *m.impact_data);
  m.builder.build(weightless, world.scales(), *m.impact_data, m.velocities, at.q, at.v, 0.0, world.options().contact,
                  true, m.impact_problem);
  m.impact_lcp->warm_start().keys.clear();
  m.impact_lcp->warm_start().sets.clear();
  const LcpSolution& impact = m.impact_lcp->solve(weightless, *m.impact_data, m.impact_problem, at.v,
                                                  {.tolerance = world.options().contact.tolerance});
  set_impulses(impact, m.impact_problem);
  return impact;
}

const LcpSolution& solve_after(const World& world, const State& at, VectorArgument u, bool with_motions,
                               Workspace::Memory& m) {
  smooth_dynamics(world, at, u, m);
  find_contacts(world, at, with_motions, m.after_problem, m);
  m.after_lcp->warm_start().keys.clear();
  m.after_lcp->warm_start().sets.clear();
  return solve_rows(world, at, with_motions, *m.after_lcp, m.after_problem, m);
}

bool bounce_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m, State& next,
                 Tape* tape) {
  const double dt = world.options().time_step;
  const bool with_motions = tape != nullptr;
  prepare_impacts(world, m);

  // without what bounces
  set_aside_bouncing(world, with_motions, m);
  mark_trees(world, m);
  m.before_impact = state;
  const LcpSolution& before = solve_rows(world, state, with_motions, m.lcp, m.problem, m);
  m.v_without = m.v_plus;
  if (!m.v_plus.allFinite() || pushes_marked(world, m.problem, before, m)) {
    restore(false, with_motions, m);
    return false;
  }

  // the impact
  const double c = find_impact(world, m);
  if (c < 0.0 || !keep_touching(world, m)) {
    restore(c < 0.0, with_motions, m);
    return false;
  }
  const LcpSolution& impact = solve_impact(world, m.at_impact, m);

  // the step after it
  m.after_impact.q = m.at_impact.q;
  m.after_impact.v = impact.v_plus;
  const VectorX& v_p = m.after_impact.v;
  const LcpSolution& then = solve_after(world, m.after_impact, u, with_motions, m);
  if (!m.v_plus.allFinite() || pushes_marked(world, m.after_problem, then, m)) {
    restore(false, with_motions, m);
    return false;
  }

  // the trees that met, and the others as without them
  const double k = 0.5 * (c * c - c);
  m.v_plus -= v_p;
  m.impact_v = v_p - (c - 0.5) * m.v_plus;
  m.impact_d = dt * ((1.0 - c) * m.impact_v - k * m.v_plus);
  advance(world, m.after_impact.q, m.impact_d, m.impact_v, m.after_impact);
  m.delta = dt * m.v_without;
  advance(world, m.before_impact.q, m.delta, m.v_without, next);
  for (const Joint& joint : world.model().joints()) {
    if (joint.nv == 0 || m.bouncing_dofs[static_cast<std::size_t>(joint.first_v)] == 0) continue;
    next.q.segment(joint.first_q, joint.nq) = m.after_impact.q.segment(joint.first_q, joint.nq);
    next.v.segment(joint.first_v, joint.nv) = m.after_impact.v.segment(joint.first_v, joint.nv);
  }

  set_result(before, m.problem, m.result);
  if (impact.status != BoxedLcpStatus::solved) m.result.status = StepStatus::approximate_contact;
  m.result.residual = std::max(m.result.residual, impact.residual);
  m.result.margin = std::min(m.result.margin, impact.margin);
  m.result.impacts = m.impact_problem.contacts;
  if (tape == nullptr) return true;
  tape->parts.resize(2);
  record(m.before_impact, u, before, m.problem, *tape);
  record(m.at_impact, u, impact, m.impact_problem, tape->parts[0]);
  m.at_impact.v = impact.v_plus;
  record(m.at_impact, u, then, m.after_problem, tape->parts[1]);
  tape->impact_time = c;
  tape->impact_normal = m.impact_normal;
  tape->impact_contact = nearest_bouncing(m.impact_problem.contacts, m.bouncing);
  tape->bouncing_dofs = m.bouncing_dofs;
  tape->status = m.result.status;
  return true;
}

}  // namespace tangere
