/// Starts, the ladder, and the answer.
///
/// The cold start, in units: v⁺ = 0 (poses as they are); x on the line of centres where both shapes would have to grow
/// alike (against a half-space: a fifth beyond the plane); α half as large again as needed there; slacks from the rows,
/// pushed into their cones; z = 0.1 s⁻¹, so that z ∘ s = 0.1 e and the normal is defined.

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "tangere/contact/smooth/internal/bilevel.hpp"
#include "tangere/contact/smooth/single_level.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/links.hpp"
#include "tangere/proximity/scaling/pair_program.hpp"

namespace tangere {
namespace {

/// The central path, from here down: in stages by a factor, each to a part of itself, or else by its length. Bilevel
/// contact has more of a corner where faces meet.
constexpr double kPathStart = 0.3;
constexpr double kStageFactor = 0.2;
constexpr double kBilevelStageFactor = 0.5;
constexpr double kStageTolerance = 0.3;
/// Factor on the iterations of later starts: iterations are cheaper than half steps (except bilevel ones).
constexpr int kPatience = 4;
constexpr int kPathPatience = 50;
/// Energy that contact may give to free bodies that turn, as a part of their kinetic energy.
constexpr double kGain = 1e-4;
/// Bodies that turn by fewer radians a step gain nothing.
constexpr double kTurn = 0.03;
/// In units: the barrier of a pair from touching on, −ln s.
constexpr double kRelaxed = 10.0;
/// Norms, as parts of κ, from which derivatives have six digits.
constexpr double kRefined = 1e-6;
/// Islands without contact are solved to rounding.
constexpr double kFlightTolerance = 1e-14;
/// Or nearly, where rounding is larger.
constexpr double kFlightEnough = 1e-9;

}  // namespace

void place_start(SmoothPair& pair, double inverse_length) {
  SmoothSide& A = pair.A;
  SmoothSide& B = pair.B;
  const auto gauge = [&](const SmoothSide& side, const Vector3& x) {
    // the rows are in metres
    return start_gauge(side.shape(), side.X.R.transpose() * (x - side.X.p) / inverse_length);
  };
  if (A.shape().scaled && B.shape().scaled) {
    const Vector3 d = B.X.p - A.X.p;
    if (d.squaredNorm() < 1e-20) {
      pair.x = A.X.p;
      pair.alpha = 0.15;
      return;
    }
    const double gauge_A = gauge(A, B.X.p);
    const double gauge_B = gauge(B, A.X.p);
    const double t = gauge_B / (gauge_A + gauge_B);
    pair.x = A.X.p + t * d;
    pair.alpha = std::max(1.5 * t * gauge_A, 0.15);
    return;
  }
  const SmoothSide& plane = A.shape().scaled ? B : A;
  const SmoothSide& other = A.shape().scaled ? A : B;
  const double* row = plane.rows().orthant_rows_u;
  const Vector3 inward = plane.X.R * Vector3(row[0], row[1], row[2]);
  const double slack = inward.dot(other.X.p - plane.X.p) + plane.rows().orthant_offset[0] * inverse_length;
  pair.x = other.X.p + inward * (std::max(-1.2 * slack, 0.2) / inward.squaredNorm());
  pair.alpha = std::max(1.5 * gauge(other, pair.x), 0.15);
}

void SmoothWarmStart::clear() {
  limits.clear();
  formulation = Formulation::lcp;
  entries.clear();
  for (std::vector<double>* vector : {&z, &s, &y, &joint_z, &joint_s, &lambda, &motions}) vector->clear();
}

const SmoothWarmStart::Entry* SmoothWarmStart::find(const PairKey& key) const {
  const auto at = std::lower_bound(entries.begin(), entries.end(), key,
                                   [](const Entry& entry, const PairKey& sought) { return entry.key < sought; });
  return at != entries.end() && at->key == key ? &*at : nullptr;
}

/// The velocities that a start has; leaves the poses that go with them.
void SingleLevelContact::start_velocities(SmoothRung rung) {
  const bool flight = rung == SmoothRung::free_flight;
  const bool old = rung == SmoothRung::old_velocity;
  for (const int i : island_.movers()) {
    FreeMover& mover = problem_.free[i];
    mover.V.setZero();
    mover.W.setZero();
    if (flight || old) {
      mover.V = flight ? mover.V_free : Vector3(mover.X_WL.R * v_.segment<3>(mover.first_v));
      mover.W = mover.X_WL.R * v_.segment<3>(mover.first_v + 3);
    }
    mover.update();
  }
  if (!island_.with_tree()) return;
  TreeMover& tree = *problem_.tree;
  std::fill(problem_.lambda.begin(), problem_.lambda.end(), 0.0);
  tree.v.setZero();
  if (flight || old)
    for (const int k : tree.dofs()) tree.v[k] = flight ? v_free_[k] : v_[k];
  tree.update();
}

void SingleLevelContact::start_joint_rows() {
  if (!island_.with_tree()) return;
  for (const JointRow& row : problem_.joint_rows) {
    double* z = problem_.z.data() + row.first_row;
    double* s = problem_.s.data() + row.first_row;
    if (row.kind == JointRow::Kind::friction) {
      z[0] = row.bound;
      s[0] = 1.0;
      z[1] = s[1] = 0.0;
      continue;
    }
    const double q = problem_.tree->q_next[model_.links().q_of_dof[row.dof]];
    s[0] = std::max(row.side() * (q - row.bound) / coordinates_.position(row.dof) + row.kept, 0.1);
    z[0] = kStartProduct / s[0];
  }
}

void SingleLevelContact::start_cold(double nu) {
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    PairSlot& slot = problem_.pairs[k];
    island_.place_pair(slot);
    place_start(slot.pair, 1.0 / slot.units.length);
    if (!problem_.bilevel) {
      slot.pair.A.start(slot.pair.x, slot.pair.alpha, nu);
      slot.pair.B.start(slot.pair.x, slot.pair.alpha, nu);
    }
    slot.collided = false;
    slot.pair.start(nu);
  }
  start_joint_rows();
}

void SingleLevelContact::start_at_ones() {
  start_cold(1.0);
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    SmoothPair& pair = problem_.pairs[k].pair;
    // f_A points from B to A, f_B from A to B
    const Vector3 apart = pair.A.shape().scaled && pair.B.shape().scaled
                              ? Vector3(pair.B.X.p - pair.A.X.p)
                              : Vector3(pair.A.shape().scaled ? pair.x - pair.A.X.p : pair.B.X.p - pair.x);
    const Vector3 towards = apart.norm() > 0.0 ? Vector3(apart.normalized()) : Vector3::UnitZ();
    if (!problem_.bilevel) {
      pair.A.start_at_ones(pair.x, pair.alpha, -towards);
      pair.B.start_at_ones(pair.x, pair.alpha, towards);
    }
    pair.at.z[0] = pair.at.s[0] = 1.0;
  }
}

/// From the last step's contact where there was one. False if there was none at all.
bool SingleLevelContact::start_warm() {
  if (!options_.warm_start || (warm_.entries.empty() && warm_.joint_z.empty())) return false;
  start_cold(kStartProduct);
  bool any = false;
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k)
    any = load_pair(warm_, problem_.pairs[k]) || any;
  if (island_.with_tree() && load_joint_rows(warm_)) any = any || !warm_.joint_z.empty();
  if (!any) return false;
  const std::span<double> z = island_.z();
  const std::span<double> s = island_.s();
  for (const NcpCone& cone : island_.cones()) {
    const int lifted = cone.kind == NcpCone::Kind::orthant ? cone.size : 1;
    for (int i = cone.first; i < cone.first + lifted; ++i) {
      z[i] += kLift;
      s[i] += kLift;
    }
  }
  return true;
}

NcpResult SingleLevelContact::attempt(SmoothRung rung) {
  NcpOptions ncp{.kappa = options_.kappa, .tolerance = options_.tolerance, .max_iterations = options_.max_iterations};
  if (rung > SmoothRung::cold && !problem_.bilevel) ncp.max_iterations *= kPatience;
  problem_.frozen_normal = rung == SmoothRung::free_flight;
  problem_.inner_refinements = options_.tolerance < 1e-2 ? 1 : 0;
  problem_.kappa = options_.kappa;
  start_velocities(rung);
  if (rung == SmoothRung::warm) {
    if (!start_warm()) return {.status = NcpStatus::broken_down};
    return solver_.solve(island_, ncp);
  }
  if (rung == SmoothRung::ones) {
    start_at_ones();
    return solver_.solve(island_, ncp);
  }
  start_cold(kStartProduct);
  if (rung == SmoothRung::old_velocity) ncp.fraction = 0.9;
  if (rung != SmoothRung::path) return solver_.solve(island_, ncp);
  if (problem_.bilevel) return solve_in_stages(kBilevelStageFactor, ncp);
  ncp.max_iterations = options_.max_iterations;
  const NcpResult result = solve_in_stages(kStageFactor, ncp);
  if (result.status == NcpStatus::solved) return result;
  start_velocities(rung);
  start_cold(kStartProduct);
  ncp.max_iterations = kPathPatience * options_.max_iterations;
  return solver_.follow(kPathStart, island_, ncp);
}

/// Down the central path, the κ that contact is shifted by with it.
NcpResult SingleLevelContact::solve_in_stages(double factor, const NcpOptions& ncp) {
  int iterations = 0;
  NcpOptions stage = ncp;
  stage.tolerance = kStageTolerance;
  NcpResult result;
  for (double kappa = kPathStart; kappa > options_.kappa; kappa *= factor) {
    stage.kappa = problem_.kappa = kappa;
    result = solver_.solve(island_, stage);
    iterations += result.iterations;
    if (result.status != NcpStatus::solved) break;
  }
  problem_.kappa = options_.kappa;
  // what is bilevel has no other path
  if (result.status == NcpStatus::solved || problem_.bilevel) result = solver_.solve(island_, ncp);
  result.iterations += iterations;
  return result;
}

/// Without contact: Newton on the momenta alone. The residual that is left.
double SingleLevelContact::fly() {
  start_velocities(SmoothRung::free_flight);
  double last = island_.evaluate();
  for (int i = 0; i < 20; ++i) {
    if (!island_.factor()) break;
    island_.solve({}, {}, {});
    island_.save();
    island_.advance(1.0);
    const double residual = island_.evaluate();
    // loops end at the rounding of their gaps over a short step
    if (residual <= kFlightTolerance || (i > 0 && residual > 0.5 * last)) return residual;
    last = residual;
  }
  return last;
}

bool SingleLevelContact::solve_island(SmoothRung last) {
  SmoothStatistics& statistics = solution_.statistics;
  if (island_.cones().empty()) {
    const double residual = fly();
    if (residual <= std::max(options_.tolerance * options_.kappa, kFlightEnough)) return true;
    // what turns by more than a radian a step
    ++statistics.failures;
    solution_.status = NcpStatus::iteration_limit;
    solution_.residual = std::max(solution_.residual, residual / options_.kappa);
    return false;
  }
  NcpResult result;
  for (const SmoothRung rung : {SmoothRung::warm, SmoothRung::cold, SmoothRung::path, SmoothRung::old_velocity,
                                SmoothRung::free_flight, SmoothRung::ones}) {
    const bool had_start = result.iterations > 0;
    if (rung > last && (had_start || rung > SmoothRung::cold)) break;
    result = attempt(rung);
    if (result.status != NcpStatus::solved) continue;
    ++statistics.rungs[static_cast<std::size_t>(rung)];
    statistics.iterations += result.iterations;
    statistics.max_iterations = std::max(statistics.max_iterations, result.iterations);
    solution_.residual =
        std::max({solution_.residual, result.equalities / options_.kappa, result.complementarity / options_.kappa});
    return true;
  }
  ++statistics.failures;
  solution_.status = result.status;
  if (last < SmoothRung::ones) return false;
  // what comes nearest to a step: contact that is softer, or the cold start's last iterate
  if (const double mu = problem_.bilevel ? 0.0 : solver_.go_to_lowest(island_); mu > 0.0) {
    solution_.residual = std::max(solution_.residual, mu / options_.kappa);
    return false;
  }
  result = attempt(SmoothRung::cold);
  solution_.residual =
      std::max({solution_.residual, result.equalities / options_.kappa, result.complementarity / options_.kappa});
  return false;
}

const SmoothSolution& SingleLevelContact::solve(const Data& data, const SmoothState& state, SmoothRung last) {
  solution_.statistics = {};
  solution_.status = NcpStatus::solved;
  solution_.residual = 0.0;
  set_up(data, state);
  solution_.num_islands = num_islands_;
  solution_.num_gaining = 0;
  solution_.restitution_kept = 1.0;
  weakened_.assign(static_cast<std::size_t>(num_islands_), 1.0);
  limits_.assign(elastic_ ? static_cast<std::size_t>(num_islands_) : 0, ReboundLimit(options_.kappa));
  for (int i = 0; i < num_islands_; ++i) {
    select(i);
    bool solved = solve_island(last);
    if (solved && elastic_) solved = limit_rebounds(static_cast<std::size_t>(i));
    if (!solved && last < SmoothRung::ones) {
      if (solution_.status == NcpStatus::solved) solution_.status = NcpStatus::iteration_limit;
      untouched_ = false;
      return solution_;
    }
    if (solved && gains_by_turning()) ++solution_.num_gaining;
    for (const int mover : island_.movers())
      solution_.v_plus.segment<6>(problem_.free[mover].first_v) = island_.velocity_after(mover);
    if (!solved) weakened_[i] = weaken();
  }
  read_answer();
  keep();
  // bounces are solved in several parts; of islands only the last one is as it was left
  untouched_ = num_islands_ == 1 && solution_.status == NcpStatus::solved && !elastic_ && !problem_.bilevel &&
               !island_.cones().empty();
  return solution_;
}

void SingleLevelContact::read_answer() {
  VectorX& v = solution_.v_plus;
  if (problem_.tree != nullptr)
    for (const int k : problem_.tree->dofs()) v[k] = problem_.tree->v[k];
  solution_.contacts.resize(problem_.num_pairs);
  for (std::size_t i = 0; i < problem_.num_pairs; ++i) {
    const PairSlot& slot = problem_.pairs[i];
    const SmoothPair& pair = slot.pair;
    Contact& contact = solution_.contacts[i];
    contact = {};
    contact.shape_A = slot.key.shape_A;
    contact.shape_B = slot.key.shape_B;
    contact.body_A = scene_.shapes()[contact.shape_A].body;
    contact.body_B = scene_.shapes()[contact.shape_B].body;
    contact.feature_A = {FeatureKind::whole, slot.key.part_A, slot.key.point};
    contact.feature_B = {FeatureKind::whole, slot.key.part_B, slot.key.point};
    contact.point = slot.point();
    contact.frame << pair.n, pair.T;
    // α grows by |f| a unit of length along the normal
    const double slope = pair.B.f.norm();
    contact.distance = (pair.alpha - 1.0) * slot.units.length / (slope > kNoDirection ? slope : 1.0);
    contact.friction = pair.friction;
    contact.restitution = restitution_of(slot.key);
    const Vector6 impulse = weakened_[slot.island] * slot.impulse();
    contact.impulse = contact.frame.transpose() * impulse.head<3>();
  }
}

/// The contact of this step, for the next one to start from.
void SingleLevelContact::keep() {
  warm_.clear();
  warm_.formulation = problem_.formulation();
  for (std::size_t i = 0; i < problem_.num_pairs; ++i) {
    const PairSlot& slot = problem_.pairs[i];
    warm_.entries.push_back({.key = slot.key,
                             .x = slot.point(),
                             .x_in_units = slot.pair.x,
                             .alpha = slot.pair.alpha,
                             .n = slot.pair.n,
                             .T = slot.pair.T,
                             .first_row = static_cast<std::size_t>(slot.first_row),
                             .num_rows = problem_.num_rows_of(slot),
                             .first_y = static_cast<std::size_t>(slot.first_y),
                             .num_y = problem_.num_auxiliaries_of(slot)});
  }
  std::sort(warm_.entries.begin(), warm_.entries.end(),
            [](const SmoothWarmStart::Entry& a, const SmoothWarmStart::Entry& b) { return a.key < b.key; });
  const auto joint_rows = static_cast<std::ptrdiff_t>(num_pair_rows());
  warm_.z.assign(problem_.z.begin(), problem_.z.begin() + joint_rows);
  warm_.s.assign(problem_.s.begin(), problem_.s.begin() + joint_rows);
  warm_.y.assign(problem_.y.begin(), problem_.y.end());
  warm_.joint_z.assign(problem_.z.begin() + joint_rows, problem_.z.end());
  warm_.joint_s.assign(problem_.s.begin() + joint_rows, problem_.s.end());
  warm_.lambda.assign(problem_.lambda.begin(), problem_.lambda.end());
  for (const FreeMover& mover : problem_.free)
    for (const Vector3* part : {&mover.V, &mover.W})
      warm_.motions.insert(warm_.motions.end(), part->data(), part->data() + 3);
  for (const ReboundLimit& limit : limits_) warm_.limits.push_back({limit.x, limit.held});
}

std::size_t SingleLevelContact::num_pair_rows() const {
  return problem_.joint_rows.empty() ? problem_.z.size()
                                     : static_cast<std::size_t>(problem_.joint_rows.front().first_row);
}

/// The variables of a pair as another step left them. False if it had no such pair, or one with other rows.
bool SingleLevelContact::load_pair(const SmoothWarmStart& from, PairSlot& slot) {
  const SmoothWarmStart::Entry* at = from.find(slot.key);
  if (at == nullptr || at->num_rows != problem_.num_rows_of(slot) || at->num_y != problem_.num_auxiliaries_of(slot))
    return false;
  slot.pair.x = (at->x - slot.origin) / slot.units.length;
  slot.pair.alpha = at->alpha;
  slot.pair.n = at->n;
  slot.pair.T = at->T;
  slot.collided = false;
  slot.left_out = false;
  const auto copy = [](const std::vector<double>& numbers, std::size_t first, std::size_t count, double* to) {
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(first), count, to);
  };
  copy(from.z, at->first_row, at->num_rows, problem_.z.data() + slot.first_row);
  copy(from.s, at->first_row, at->num_rows, problem_.s.data() + slot.first_row);
  if (!problem_.bilevel) copy(from.y, at->first_y, at->num_y, problem_.y.data() + slot.first_y);
  return true;
}

/// The same of joints' limits and dry friction.
bool SingleLevelContact::load_joint_rows(const SmoothWarmStart& from) {
  if (from.joint_z.size() != problem_.z.size() - num_pair_rows()) return false;
  std::copy(from.joint_z.begin(), from.joint_z.end(), problem_.z.data() + num_pair_rows());
  std::copy(from.joint_s.begin(), from.joint_s.end(), problem_.s.data() + num_pair_rows());
  return true;
}

/// The iterate of a solved step.
void SingleLevelContact::load(const SmoothWarmStart& solved, VectorArgument v_plus) {
  if (island_.with_tree())
    for (const int k : problem_.tree->dofs()) problem_.tree->v[k] = v_plus[k];
  bool same = solved.formulation == problem_.formulation() && solved.entries.size() == problem_.num_pairs &&
              solved.motions.size() == 6 * problem_.free.size();
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    PairSlot& slot = problem_.pairs[k];
    same = same && load_pair(solved, slot);
    if (same) slot.pair.x = solved.find(slot.key)->x_in_units;
  }
  for (const int i : island_.movers()) {
    if (!same) break;
    FreeMover& mover = problem_.free[i];
    const double* motion = solved.motions.data() + 6 * i;
    mover.V = Eigen::Map<const Vector3>(motion);
    mover.W = Eigen::Map<const Vector3>(motion + 3);
  }
  if (island_.with_tree()) {
    same = same && solved.lambda.size() == problem_.lambda.size() && load_joint_rows(solved);
    if (same) std::copy(solved.lambda.begin(), solved.lambda.end(), problem_.lambda.begin());
  }
  if (!same) throw InputError("tape", "is not of this world: its contacts, joint rows or formulation are others");
}

/// Whether everything is still as `solve` left it, at this solution.
bool SingleLevelContact::is_at(const SmoothWarmStart& solved, VectorArgument v_plus) const {
  const auto same = [](const std::vector<double>& kept, const double* now) {
    return std::equal(kept.begin(), kept.end(), now);
  };
  return untouched_ && solved.formulation == problem_.formulation() && solved.entries.size() == problem_.num_pairs &&
         v_plus == solution_.v_plus && solved.z.size() + solved.joint_z.size() == problem_.z.size() &&
         same(solved.z, problem_.z.data()) && same(solved.s, problem_.s.data()) &&
         same(solved.joint_z, problem_.z.data() + solved.z.size()) &&
         same(solved.joint_s, problem_.s.data() + solved.z.size());
}

/// From where the island is, as well as derivatives need it.
NcpResult SingleLevelContact::solve_further(int max_iterations, double refined) {
  problem_.frozen_normal = false;
  problem_.kappa = options_.kappa;
  problem_.inner_refinements = options_.num_refinements;
  return solver_.solve(island_, {.kappa = options_.kappa,
                                 .tolerance = options_.tolerance,
                                 .max_iterations = max_iterations,
                                 .num_refinements = options_.num_refinements,
                                 .refined = refined});
}

/// Newton steps from a loaded iterate; leaves the factors at the last one. False if they are not those of the step.
GradientQuality SingleLevelContact::refine() {
  if (island_.cones().empty()) {
    (void)island_.evaluate();
    return island_.factor() ? GradientQuality::exact : GradientQuality::contact_unsolved;
  }
  const bool solved = solve_further(options_.num_refinements + 4, kRefined).status == NcpStatus::solved;
  return factor_what_has_factors() && solved ? GradientQuality::exact : GradientQuality::contact_unsolved;
}

/// Leaves out the pairs without factors, or else all, if the island has no factors: its derivatives are numbers, if
/// not those of the step.
bool SingleLevelContact::factor_what_has_factors() {
  if (island_.factor()) return true;
  for (const bool all : {false, true}) {
    for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
      PairSlot& slot = problem_.pairs[k];
      slot.left_out = slot.left_out || all || !slot.pair.factor(false);
    }
    if (island_.factor()) return false;
  }
  return false;
}

bool SingleLevelContact::has_rough_rebounds() const {
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    const int rebound = problem_.pairs[k].rebound;
    if (rebound >= 0 && problem_.rebounds[rebound].rough()) return true;
  }
  return false;
}

/// Whether contact gives energy to an island of free bodies that the laws of contact do not know. Contact is at the end
/// of the step, and what turns far within it may part there faster than from the gap that there is: as if it had
/// overlapped before. Without that, relaxation and correction give what is their own.
bool SingleLevelContact::gains_by_turning() {
  if (island_.with_tree()) return false;
  double turn = 0.0;
  for (const int i : island_.movers()) turn = std::max(turn, time_step_ * problem_.free[i].W.norm());
  if (turn < kTurn) return false;
  double most = 0.0;
  // the energy that the relaxation itself gives what touches
  double relaxed = 0.0;
  for (std::size_t k = island_.first_pair(); k < island_.last_pair(); ++k) {
    const PairSlot& slot = problem_.pairs[k];
    const double way = time_step_ * slot.units.speed / slot.units.length;
    relaxed += kRelaxed * options_.kappa / way * slot.units.impulse() * slot.units.speed;
    if (slot.rebound_gap < 0.0) continue;
    const double excess = slot.pair.opening() - (slot.pair.at.s[0] + slot.rebound_gap) / way;
    most += std::max(excess, 0.0) * slot.pair.at.z[0] * slot.units.impulse() * slot.units.speed /
            std::max(0.5 * (slot.pair.B.f - slot.pair.A.f).norm(), kNoDirection);
  }
  if (most == 0.0) return false;
  double energy = 0.0;
  for (const int i : island_.movers()) {
    const FreeMover& mover = problem_.free[i];
    const Vector3 spin = v_.segment<3>(mover.first_v + 3);
    const Vector3 speed = v_.segment<3>(mover.first_v) + spin.cross(mover.center_L);
    energy += 0.5 * (mover.mass * speed.squaredNorm() + spin.dot(mover.inertia_L * spin));
  }
  const double allowed = std::max(kGain * energy, relaxed);
  if (most <= allowed) return false;
  ReboundLimit without_seam(options_.kappa);
  without_seam.x = 1.0;
  energy_.evaluate(problem_, island_, v_);
  return 0.5 * energy_.balance(without_seam) > allowed;
}

/// Weakens an island that no start has solved: it keeps the part s of its impulses p that does no work on it,
///
///   T(v_free + s M⁻¹ p) ≤ T(v_free),   s ≤ −2 p · v_free / p · M⁻¹ p,
///
/// and all of them if that is 1 or more: momentum is kept, and nothing explodes. Answers with s.
double SingleLevelContact::weaken() {
  energy_.evaluate(problem_, island_, v_);
  const ScratchVector::ConstView p = energy_.p();
  double work = 0.0;
  double square = 0.0;
  const auto change_of = [&](int mover) -> Vector6 {
    const FreeMover& body = problem_.free[mover];
    const auto own = p.segment<6>(island_.place_of(mover));
    const Vector3 linear = own.head<3>();
    const Vector3 spin = body.inverse_L * (own.tail<3>() - body.center_L.cross(linear));
    Vector6 out;
    out << linear / body.mass - spin.cross(body.center_L), spin;
    return out;
  };
  for (const int mover : island_.movers()) {
    const auto own = p.segment<6>(island_.place_of(mover));
    const Vector6 change = change_of(mover);
    const int first = problem_.free[mover].first_v;
    square += own.dot(change);
    work += own.dot(solution_.v_plus.segment<6>(first) - change);
  }
  TreeMover* tree = island_.with_tree() ? problem_.tree.get() : nullptr;
  if (tree != nullptr)
    for (int i = 0; i < tree->size(); ++i) {
      const int dof = tree->dofs()[i];
      const double own = p[island_.tree_place() + i];
      square += own * (tree->v[dof] - v_free_[dof]);
      work += own * v_free_[dof];
    }
  if (!(square > 0.0) || -2.0 * work >= square) return 1.0;
  const double s = std::max(-2.0 * work / square, 0.0);
  for (const int mover : island_.movers())
    solution_.v_plus.segment<6>(problem_.free[mover].first_v) -= (1.0 - s) * change_of(mover);
  if (tree != nullptr)
    for (const int dof : tree->dofs()) tree->v[dof] = v_free_[dof] + s * (tree->v[dof] - v_free_[dof]);
  return s;
}

}  // namespace tangere
