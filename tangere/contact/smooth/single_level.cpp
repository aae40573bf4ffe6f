/// Sets up the problem: movers, pairs and islands. single_level_solve.cpp solves them.

#include "tangere/contact/smooth/single_level.hpp"
#include "tangere/contact/pair_friction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "tangere/geometry/bounds.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/links.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/proximity/manifold/manifold_features.hpp"

namespace tangere {
namespace {

/// The pull on further points, as a part of the force 1 that α has.
constexpr double kPull = 0.1;
/// A half-space is lowered below centres that are nearer to its plane than this part of a ball within the set.
constexpr double kDeep = 0.5;

Aabb widened(const Aabb& box, double by) {
  return {box.lower - Vector3::Constant(by), box.upper + Vector3::Constant(by)};
}

/// The joint that a coordinate is of.
int joint_of(const Model& model, int dof) {
  int j = 0;
  while (dof >= model.joint(j).first_v + model.joint(j).nv) ++j;
  return j;
}

/// True for sets that touch others in one point: a sum of ellipsoids and a ball.
bool is_round(const ConvexSet& set) {
  return !set.support->half_space && set.support->num_terms == set.support->num_ellipsoids;
}

/// On the contact point of a pair, in the axes of its smaller set: none on the first; the others are pulled towards the
/// corners of a tetrahedron, which seen along any axis are the corners of a square.
Vector3 pull_on(int point) {
  constexpr double kCorners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  if (point == 0) return Vector3::Zero();
  const double* corner = kCorners[point - 1];
  return kPull * Vector3(corner[0], corner[1], corner[2]);
}

/// Sets with flat faces, which resist being turned about the normal: what is more than ellipsoids, a ball and one
/// segment (a capsule).
bool has_faces(const ConvexSet& set) {
  const SupportTerms& support = *set.support;
  int num_segments = 0;
  for (int i = 0; i < support.num_terms; ++i)
    if (support.terms()[i].kind == SupportTerm::Kind::segment) ++num_segments;
  const int others = support.num_terms - support.num_ellipsoids - num_segments;
  return support.half_space || others > 0 || num_segments > 1;
}

/// A unit vector: gaps along it are metres. Zero where there is no direction, along which nothing is apart.
struct Direction {
  explicit Direction(const Vector3& along) : n(along.normalized()) {}
  Vector3 n;
};

/// The farthest that a set reaches along n, which is the normal if it is a half-space.
double reach_along(const SupportTerms& set, const Pose& X, const Vector3& n) {
  return n.dot(X.p) + (set.half_space ? set.radius : internal::support_value(set, X.R.transpose() * n));
}

/// Whether there is a plane across n with A below it and B above, both grown by a part of themselves.
bool are_apart(const SupportTerms& A, const Pose& X_A, const SupportTerms& B, const Pose& X_B, const Direction& across,
               double growth) {
  const Vector3& n = across.n;
  const double gap = -reach_along(A, X_A, n) - reach_along(B, X_B, -n);
  double grown = 0.0;
  if (growth > 0.0) {
    if (!A.half_space) grown += internal::support_value(A, X_A.R.transpose() * n);
    if (!B.half_space) grown += internal::support_value(B, -(X_B.R.transpose() * n));
  }
  return gap > growth * grown;
}

}  // namespace

SingleLevelContact::SingleLevelContact(const Model& model, const CollisionScene& scene, const SmoothUnits& units,
                                       double time_step, const SmoothContact& options,
                                       const ContactOptions& contact_options, bool bilevel)
    : model_(model),
      scene_(scene),
      time_step_(time_step),
      options_(options),
      contact_options_(contact_options),
      units_(units),
      coordinates_(model, units, time_step),
      island_(problem_),
      old_velocities_(model),
      limit_(options.kappa) {
  options_.verify();
  problem_.units = &coordinates_;
  problem_.time_step = time_step;
  problem_.kappa = options.kappa;
  problem_.bilevel = bilevel;
  // collisions are solved better than what is built on them, as far as rounding allows
  // the outer Newton steps see the collisions' answers: looser ones make them stall just above their tolerance
  problem_.inner_tolerance = std::max((bilevel ? 1e-3 : 0.1) * options.tolerance, 1e-12 / options.kappa);
  for (std::size_t i = 0; i < scene.shapes().size(); ++i) {
    const CollisionShape& shape = scene.shape(model, static_cast<int>(i));
    (void)broad_phase_.add({Vector3::Zero(), Vector3::Zero()}, {shape.group, shape.mask});
    elastic_ = elastic_ || shape.restitution > 0.0;
  }
  poses_.resize(scene.shapes().size());
  reach_of_step_.resize(scene.shapes().size());
  find_movers();
  add_joint_rows();
  add_equalities();
  solution_.v_plus.setZero(model.nv());
}

/// Free bodies one by one; every other coordinate belongs to the tree.
void SingleLevelContact::find_movers() {
  const Links& links = model_.links();
  const auto count = static_cast<std::size_t>(model_.num_bodies());
  mover_of_body_.assign(count, -1);
  moves_.assign(count, 0);
  std::vector<int> mover_of_link(links.links.size(), -1);
  std::vector<int> tree_dofs;
  const std::vector<char> single = find_free_movers(model_, contact_options_);
  for (int i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    if (single[i] == 0) {
      for (int k = link.v; k < link.v + link.nv; ++k) tree_dofs.push_back(k);
      continue;
    }
    mover_of_link[i] = static_cast<int>(problem_.free.size());
    FreeMover mover;
    mover.first_v = link.v;
    const LinkMoments moments = moments_of(link);
    mover.mass = moments.mass;
    mover.center_L = moments.center;
    mover.inertia_L = moments.inertia;
    mover.inverse_L = moments.inertia.inverse();
    problem_.free.push_back(mover);
  }
  for (std::size_t b = 0; b < count; ++b) {
    const int link = links.bodies[b].link;
    moves_[b] = link >= 0 ? 1 : 0;
    if (link < 0) continue;
    const int mover = mover_of_link[link];
    mover_of_body_[b] = mover;
    if (mover < 0) continue;
    // the first body of the link is the one that its joint carries
    FreeMover& at = problem_.free[mover];
    if (model_.joint(static_cast<int>(b)).nv == 6) {
      at.body = static_cast<int>(b);
      at.units = units_.body(at.body, time_step_);
    }
  }
  if (!tree_dofs.empty()) problem_.tree = std::make_unique<TreeMover>(model_, coordinates_, std::move(tree_dofs));
  const std::size_t nodes = problem_.free.size() + 1;
  parent_.resize(nodes);
  island_of_.resize(nodes);
}

void SingleLevelContact::add_joint_rows() {
  if (problem_.tree == nullptr) return;
  for (const int dof : problem_.tree->dofs()) {
    const DofSpec& spec = model_.dofs()[dof];
    if (contact_options_.joint_limits) {
      JointRow limit;
      limit.dof = dof;
      limit.recovery = recovery() / coordinates_.position(dof);
      limit.compliance = compliance_of(coordinates_.position(dof), coordinates_.velocity(dof));
      limit.hover = options_.kappa * units_.falls(units_.body(joint_of(model_, dof), time_step_).speed, time_step_);
      limit.fall = units_.fall(time_step_) / units_.length(joint_of(model_, dof));
      for (const auto& [kind, bound] :
           {std::pair{JointRow::Kind::lower, spec.lower}, std::pair{JointRow::Kind::upper, spec.upper}}) {
        if (!std::isfinite(bound)) continue;
        limit.kind = kind;
        limit.bound = bound;
        problem_.joint_rows.push_back(limit);
      }
    }
    if (contact_options_.joint_friction && spec.friction > 0.0)
      problem_.joint_rows.push_back(
          {JointRow::Kind::friction, dof, time_step_ * spec.friction / coordinates_.momentum(dof)});
  }
}

/// Joint rows from the violations before the step.
void SingleLevelContact::begin_joint_rows(const SmoothState& state) {
  for (JointRow& row : problem_.joint_rows) {
    if (row.kind == JointRow::Kind::friction) continue;
    const double q = state.q[model_.links().q_of_dof[row.dof]];
    const double out = row.side() / coordinates_.position(row.dof);
    const KeptOverlap kept = keep_overlap({.overlap = -out * (q - row.bound),
                                           .separation = out * time_step_ * state.v[row.dof],
                                           .recovery = row.recovery,
                                           .hover = row.hover,
                                           .fall = row.fall,
                                           .kappa = options_.kappa});
    row.kept = kept.value;
    row.kept_slope = kept.by_overlap;
    row.kept_speed = kept.by_separation;
  }
}

/// Loops and mimics, but for those between bodies that do not move.
void SingleLevelContact::add_equalities() {
  if (problem_.tree == nullptr) return;
  if (contact_options_.constraints)
    for (const LoopConstraint& constraint : model_.constraints()) {
      SmoothEquality loop =
          SmoothEquality::loop(constraint, model_, units_, coordinates_, time_step_, contact_options_);
      if (!loop.dofs().empty()) problem_.equalities.push_back(std::move(loop));
    }
  if (contact_options_.mimics)
    for (int j = 0; j < model_.num_bodies(); ++j)
      if (model_.joint(j).mimic_source >= 0)
        problem_.equalities.push_back(SmoothEquality::mimic(j, model_, coordinates_, time_step_, contact_options_));
  std::size_t rows = 0;
  for (const SmoothEquality& equality : problem_.equalities) rows += static_cast<std::size_t>(equality.num_rows());
  problem_.lambda.assign(rows, 0.0);
}

void SingleLevelContact::begin_movers(const Data& data, const SmoothState& state) {
  for (FreeMover& mover : problem_.free) {
    const int k = mover.first_v;
    const Pose X_WL = body_pose(model_, data, mover.body) * to_pose(model_.links().bodies[mover.body].X_LB).inverse();
    Vector6 force = state.tau.segment<6>(k);
    for (int i = 0; i < 6; ++i) force[i] -= model_.links().damping[k + i] * state.v[k + i];
    mover.begin(X_WL, state.v.segment<3>(k), state.v.segment<3>(k + 3), force.head<3>(), force.tail<3>(),
                model_.gravity(), time_step_);
  }
  if (problem_.tree != nullptr)
    problem_.tree->begin(state.q, last_mass_matrix(model_, data), state.implicit_inertia, state.v_free, time_step_);
  begin_joint_rows(state);
  for (SmoothEquality& equality : problem_.equalities) equality.begin(model_, data, state.q);
}

/// Boxes of all shapes, widened by what they may move.
void SingleLevelContact::place_shapes(const Data& data, const SmoothState& state) {
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const SceneShape& at = scene_.shapes()[i];
    const bool moving = moves_[at.body] != 0;
    if (placed_ && !moving) continue;
    const CollisionShape& shape = scene_.shape(model_, static_cast<int>(i));
    const Pose X_WB = body_pose(model_, data, at.body);
    poses_[i] = X_WB * shape.X_BS;
    reach_of_step_[i] = 0.0;
    if (moving) {
      // the larger of the old and of the free-flight velocity, by coordinates
      double linear = 0.0;
      double angular = 0.0;
      const std::span<const int> way = way_of(model_, at.body);
      for (const int k : way) {
        const double speed = std::max(std::abs(state.v[k]), std::abs(state.v_free[k]));
        (coordinates_.slides(k) ? linear : angular) += speed;
      }
      linear += time_step_ * model_.gravity().norm();
      const double margin = std::max(0.5 * options_.margin * units_.length(at.body), options_.sight_distance);
      reach_of_step_[i] = time_step_ * (linear + angular * at.reach) + margin;
    }
    broad_phase_.update(static_cast<int>(i), widened(bounds(shape.shape, poses_[i]), reach_of_step_[i]));
  }
  placed_ = true;
}

int SingleLevelContact::mover_of(int shape) const {
  const int body = scene_.shapes()[shape].body;
  if (moves_[body] == 0) return -1;
  const int mover = mover_of_body_[body];
  return mover >= 0 ? mover : static_cast<int>(problem_.free.size());
}

/// Pairs of parts whose balls come near enough.
void SingleLevelContact::add_candidates(int a, int b) {
  const Shape& A = scene_.shape(model_, a).shape;
  const Shape& B = scene_.shape(model_, b).shape;
  const double reach = reach_of_step_[a] + reach_of_step_[b];
  const std::span<const ConvexPart> parts_A = A.parts();
  const std::span<const ConvexPart> parts_B = B.parts();
  for (std::size_t i = 0; i < parts_A.size(); ++i)
    for (std::size_t j = 0; j < parts_B.size(); ++j) {
      const Pose X_A = poses_[a] * parts_A[i].X_SP;
      const Pose X_B = poses_[b] * parts_B[j].X_SP;
      const double radius_A = parts_A[i].set->outer_radius;
      const double radius_B = parts_B[j].set->outer_radius;
      // two half-spaces have nothing to scale
      if (!parts_A[i].set->scaled && !parts_B[j].set->scaled) continue;
      double gap = (X_A.p - X_B.p).norm() - radius_A - radius_B;
      const auto above = [](const ConvexSet& plane, const Pose& X, const Vector3& center, double radius) {
        const double* row = plane.rows.view().orthant_rows_u;
        const Vector3 p = X.R.transpose() * (center - X.p);
        const Vector3 normal(row[0], row[1], row[2]);
        return -(normal.dot(p) + plane.rows.view().orthant_offset[0]) / normal.norm() - radius;
      };
      if (!parts_A[i].set->scaled) gap = above(*parts_A[i].set, X_A, X_B.p, radius_B);
      if (!parts_B[j].set->scaled) gap = above(*parts_B[j].set, X_B, X_A.p, radius_A);
      if (gap > reach) continue;
      const int num_points = is_round(*parts_A[i].set) || is_round(*parts_B[j].set) ? 1 : options_.points;
      for (int point = 0; point < num_points; ++point)
        candidates_.push_back({.key = {a, static_cast<int>(i), b, static_cast<int>(j), point},
                               .mover_A = mover_of(a),
                               .mover_B = mover_of(b)});
    }
}

void SingleLevelContact::find_pairs() {
  candidates_.clear();
  for (const BodyPair& pair : broad_phase_.pairs()) {
    const auto [a, b] = pair;
    const int body_A = scene_.shapes()[a].body;
    const int body_B = scene_.shapes()[b].body;
    if (!model_.may_collide(body_A, body_B)) continue;
    add_candidates(a, b);
  }
}

int SingleLevelContact::root(int i) {
  while (parent_[i] != i) i = parent_[i];
  return i;
}

/// Islands in the order of their first mover, the tree's last; candidates in the order of islands.
void SingleLevelContact::find_islands() {
  std::iota(parent_.begin(), parent_.end(), 0);
  for (const Candidate& candidate : candidates_) {
    if (candidate.mover_A < 0 || candidate.mover_B < 0) continue;
    const int one = root(candidate.mover_A);
    const int other = root(candidate.mover_B);
    // the tree, numbered last, is the root of its island
    parent_[std::min(one, other)] = std::max(one, other);
  }
  const int tree = static_cast<int>(problem_.free.size());
  num_islands_ = 0;
  tree_island_ = -1;
  std::fill(island_of_.begin(), island_of_.end(), -1);
  for (int i = 0; i < tree; ++i) {
    const int at = root(i);
    if (at == tree) continue;
    int& island = island_of_[at];
    if (island < 0) island = num_islands_++;
  }
  if (problem_.tree != nullptr) {
    tree_island_ = num_islands_++;
    island_of_[tree] = tree_island_;
  }
  for (int i = 0; i < tree; ++i) island_of_[i] = island_of_[root(i)];

  // movers and pairs by island, each in its own order: counting sorts
  first_mover_of_.assign(static_cast<std::size_t>(num_islands_) + 1, 0);
  for (int i = 0; i < tree; ++i) ++first_mover_of_[static_cast<std::size_t>(island_of_[i]) + 1];
  std::partial_sum(first_mover_of_.begin(), first_mover_of_.end(), first_mover_of_.begin());
  movers_by_island_.resize(static_cast<std::size_t>(tree));
  order_.assign(first_mover_of_.begin(), first_mover_of_.end());
  for (int i = 0; i < tree; ++i) movers_by_island_[order_[island_of_[i]]++] = i;

  first_pair_of_.assign(static_cast<std::size_t>(num_islands_) + 1, 0);
  for (Candidate& candidate : candidates_) {
    const int mover = std::max(candidate.mover_A, candidate.mover_B);
    candidate.island = island_of_[mover];
    ++first_pair_of_[static_cast<std::size_t>(candidate.island) + 1];
  }
  std::partial_sum(first_pair_of_.begin(), first_pair_of_.end(), first_pair_of_.begin());
}

SideBody SingleLevelContact::side_of(int shape, const Pose& X_SP) const {
  const SceneShape& at = scene_.shapes()[shape];
  const Pose X_BP = scene_.shape(model_, shape).X_BS * X_SP;
  const int mover = mover_of(shape);
  if (mover < 0) return {SideBody::Kind::fixed, 0, poses_[shape] * X_SP};
  if (mover == static_cast<int>(problem_.free.size())) return {SideBody::Kind::tree, at.body, X_BP};
  const Pose X_LB = to_pose(model_.links().bodies[at.body].X_LB);
  return {SideBody::Kind::free, mover, X_LB * X_BP};
}

Pose SingleLevelContact::old_pose(int shape, int part) const {
  return poses_[shape] * scene_.shape(model_, shape).shape.parts()[part].X_SP;
}

double SingleLevelContact::restitution_of(const PairKey& key) const {
  return scene_.shape(model_, key.shape_A).restitution * scene_.shape(model_, key.shape_B).restitution;
}

double SingleLevelContact::torsion_radius(const ConvexSet& A, const ConvexSet& B, double length) const {
  if (contact_options_.torsional_friction > 0.0) return contact_options_.torsional_friction / length;
  return has_faces(A) && has_faces(B) ? options_.torsion : 0.0;
}

/// The axes of a pyramid of friction are fixed in what does not move, else in the larger set, of equals in A.
bool SingleLevelContact::owns_axes_B(const PairSlot& slot) const {
  const bool fixed_A = slot.sides[0].kind == SideBody::Kind::fixed;
  const bool fixed_B = slot.sides[1].kind == SideBody::Kind::fixed;
  if (fixed_A != fixed_B) return fixed_B;
  return units_.part_length(slot.key.shape_B, slot.key.part_B) > units_.part_length(slot.key.shape_A, slot.key.part_A);
}

void SingleLevelContact::fill(const Candidate& candidate, PairSlot& slot) {
  const PairKey& key = candidate.key;
  const CollisionShape& A = scene_.shape(model_, key.shape_A);
  const CollisionShape& B = scene_.shape(model_, key.shape_B);
  const ConvexPart& part_A = A.shape.parts()[key.part_A];
  const ConvexPart& part_B = B.shape.parts()[key.part_B];
  slot.key = key;
  slot.island = candidate.island;
  slot.left_out = false;
  slot.rebound_gap = 0.0;
  slot.rebound = -1;
  slot.lowering = {};
  slot.sides = {side_of(key.shape_A, part_A.X_SP), side_of(key.shape_B, part_B.X_SP)};

  // units of the smaller and of the lighter
  slot.units.length =
      std::min(units_.part_length(key.shape_A, key.part_A), units_.part_length(key.shape_B, key.part_B));
  slot.units.mass = std::numeric_limits<double>::infinity();
  for (const int shape : {key.shape_A, key.shape_B}) {
    const int body = scene_.shapes()[shape].body;
    if (moves_[body] != 0) slot.units.mass = std::min(slot.units.mass, units_.mass(body));
  }
  slot.units.speed = units_.speed(slot.units.length, time_step_);
  slot.pair.compliance = compliance_of(slot.units.length, slot.units.speed);
  slot.num_cones = part_A.set->rows.num_orthant() + part_A.set->rows.num_cones() + part_B.set->rows.num_orthant() +
                   part_B.set->rows.num_cones();
  if (!options_.shift) slot.num_cones = 0;
  const bool at_A = part_A.set->outer_radius <= part_B.set->outer_radius;
  slot.origin = (poses_[at_A ? key.shape_A : key.shape_B] * (at_A ? part_A : part_B).X_SP).p;

  // where both impulses act: the lighter body's velocity counts more
  double mass[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < 2; ++i)
    if (slot.sides[i].kind == SideBody::Kind::free) mass[i] = problem_.free[slot.sides[i].index].mass;
  if (mass[0] > 0.0 && mass[1] > 0.0)
    slot.weights = {mass[1] / (mass[0] + mass[1]), mass[0] / (mass[0] + mass[1])};
  else
    slot.weights = {mass[0] > 0.0 ? 1.0 : 0.0, mass[1] > 0.0 ? 1.0 : 0.0};

  slot.pair.moves_A = every_side_ || candidate.mover_A >= 0;
  slot.pair.moves_B = every_side_ || candidate.mover_B >= 0;
  const Vector3 pull = pull_on(key.point);
  slot.pair.A.set(*part_A.set, 1.0 / slot.units.length, at_A ? pull : pull_on(0));
  slot.pair.B.set(*part_B.set, 1.0 / slot.units.length, at_A ? pull_on(0) : pull);
  slot.pair.set_friction(friction_of(model_, scene_, contact_options_, {key.shape_A, key.shape_B}),
                         torsion_radius(*part_A.set, *part_B.set, slot.units.length), options_.friction);
  slot.pair.axes_of_B = owns_axes_B(slot);
}

void SingleLevelContact::fill_slots() {
  if (problem_.pairs.size() < candidates_.size()) problem_.pairs.resize(candidates_.size());
  problem_.num_pairs = candidates_.size();
  order_.assign(first_pair_of_.begin(), first_pair_of_.end());
  for (const Candidate& candidate : candidates_) fill(candidate, problem_.pairs[order_[candidate.island]++]);
  problem_.lay_out();
}

/// Whether a pair may overlap by more than a step takes back (`recovery`, metres; rebound.hpp): not if a plane is found
/// between the sets, across the normal that they had last or the line between centres. (Which is tried decides about
/// time only.) Relaxed, they overlap by up to d κ without: they must be farther apart where a step takes back less.
bool SingleLevelContact::may_overlap(const PairSlot& slot, const Pose& X_A, const Pose& X_B, double recovery) const {
  const SupportTerms& A = *slot.pair.A.shape().support;
  const SupportTerms& B = *slot.pair.B.shape().support;
  // α is at least so steep along the normal
  const double across = (A.half_space ? 0.0 : A.outer_radius) + (B.half_space ? 0.0 : B.outer_radius);
  const double growth = std::max(slot.num_cones * options_.kappa - recovery / across, 0.0);
  if (A.half_space) return !are_apart(A, X_A, B, X_B, Direction(X_A.R * A.center), growth);
  if (B.half_space) return !are_apart(A, X_A, B, X_B, Direction(-(X_B.R * B.center)), growth);
  if (are_apart(A, X_A, B, X_B, Direction(X_B.p - X_A.p), growth)) return false;
  const SmoothWarmStart::Entry* last = warm_.find(slot.key);
  return last == nullptr || !are_apart(A, X_A, B, X_B, Direction(last->n), growth);
}

/// Lowers a half-space (Lowering), of the problem and of these poses before the step.
void SingleLevelContact::lower(PairSlot& slot, Pose& X_A, Pose& X_B) const {
  const bool plane_A = !slot.pair.A.shape().scaled;
  if (!plane_A && slot.pair.B.shape().scaled) return;
  const int side = plane_A ? 0 : 1;
  const SupportTerms& plane = *slot.side(side).shape().support;
  Pose& X = plane_A ? X_A : X_B;
  const Vector3 center = (plane_A ? X_B : X_A).p;
  const Vector3 normal = X.R * plane.center;
  // constants of the world, as units are
  const double reach = kDeep * (plane_A ? units_.inner_length(slot.key.shape_B, slot.key.part_B)
                                        : units_.inner_length(slot.key.shape_A, slot.key.part_A));
  const double t = 1.0 - (normal.dot(center - X.p) - plane.radius) / reach;
  if (t <= 0.0) return;
  const double depth = reach * gate_integral(t);
  slot.lowering = {.side = side, .slope = gate(t, 1.0).value, .normal = normal, .center = center};
  X.p -= depth * normal;
  SideBody& body = slot.sides[side];
  body.X.p -= depth * (body.X.R * plane.center);
  (plane_A ? slot.pair.moves_A : slot.pair.moves_B) = true;
}

/// Gaps kept by pairs that bounce or overlap, from the state before the step.
void SingleLevelContact::find_rebounds(const Data& data, const SmoothState& state) {
  bool moving = false;
  // one step more: b has derivatives, and is not solved again for them
  const NcpOptions collision{.kappa = options_.kappa,
                             .tolerance = problem_.inner_tolerance,
                             .max_iterations = kCollisionIterations,
                             .num_refinements = 2};
  int count = 0;
  for (std::size_t i = 0; i < problem_.num_pairs; ++i) {
    PairSlot& slot = problem_.pairs[i];
    Pose X_A = old_pose(slot.key.shape_A, slot.key.part_A);
    Pose X_B = old_pose(slot.key.shape_B, slot.key.part_B);
    const double restitution = restitution_of(slot.key);
    const bool overlaps = may_overlap(slot, X_A, X_B, recovery());
    if (restitution == 0.0 && !overlaps) continue;
    if (overlaps) lower(slot, X_A, X_B);
    slot.rebound = count++;
    if (problem_.rebounds.size() < static_cast<std::size_t>(count)) problem_.rebounds.emplace_back();
    const Units& unit = slot.units;
    Impact impact{.X_A = {X_A.R, (X_A.p - slot.origin) / unit.length},
                  .X_B = {X_B.R, (X_B.p - slot.origin) / unit.length},
                  .restitution = restitution,
                  .time_step = time_step_ * unit.speed / unit.length,
                  .bounce_speed = contact_options_.bounce_speed / unit.speed,
                  .recovery = recovery() / unit.length,
                  .hover = options_.kappa * units_.falls(unit.speed, time_step_),
                  .fall = units_.fall(time_step_) / unit.length,
                  .may_overlap = overlaps,
                  .shift = slot.num_cones * options_.kappa,
                  .length = unit.length};
    if (!std::exchange(moving, true)) old_velocities_.set(model_, data, state.v);
    for (const int side : {0, 1})
      impact.twist += sign_of(side) * old_velocities_.twist(model_, data, body_of(slot, side), slot.origin);
    impact.twist.head<3>() /= unit.speed;
    impact.twist.tail<3>() *= unit.length / unit.speed;
    slot.rebound_gap = problem_.rebounds[slot.rebound].solve(slot.pair, impact, collision, rebound_solver_);
  }
}

void SingleLevelContact::set_up(const Data& data, const SmoothState& state) {
  q_ = state.q;
  v_ = state.v;
  tau_ = state.tau;
  implicit_inertia_ = state.implicit_inertia;
  v_free_ = state.v_free;
  set_up_for_every_side_ = every_side_;
  untouched_ = false;
  begin_movers(data, state);
  place_shapes(data, state);
  find_pairs();
  find_islands();
  fill_slots();
  find_rebounds(data, state);
}

bool SingleLevelContact::is_set_up(const SmoothState& state) const {
  const auto same = [](const VectorX& kept, VectorArgument other) {
    return kept.size() == other.size() && kept == other;
  };
  // v_free is a function of these
  return set_up_for_every_side_ == every_side_ && same(q_, state.q) && same(v_, state.v) && same(tau_, state.tau) &&
         same(implicit_inertia_, state.implicit_inertia);
}

void SingleLevelContact::select(int island) {
  const auto at = static_cast<std::size_t>(island);
  const std::span<const int> movers(movers_by_island_.data() + first_mover_of_[at],
                                    first_mover_of_[at + 1] - first_mover_of_[at]);
  island_.set(first_pair_of_[at], first_pair_of_[at + 1], movers, island == tree_island_);
}

}  // namespace tangere
