#pragma once

/// Single-level smooth contact: collision and contact at the end of the step as one relaxed complementarity problem.
///
///   const SmoothUnits units(model);
///   SingleLevelContact contact(model, scene, units, dt, options, contact_options);
///   const SmoothSolution& solution = contact.solve(data, {q, v, tau, v_free, implicit_inertia});
///
/// Through a world: `WorldOptions::formulation = Formulation::single_level`, then step, tapes and derivatives as ever
/// (sim/step.hpp).
///
/// After the Silico paper's problem (20), made three-dimensional and articulated. Unknowns are v⁺, with q⁺ = q ⊕ dt v⁺,
/// and for every pair of convex sets that may meet within the step the variables of their minimum scaling at q⁺
/// (smooth_side.hpp) and of contact and friction (smooth_pair.hpp). Departures from the paper:
///
///   units      lengths, masses and speeds of the pair: κ is relative, and any size is the same problem
///   shift      s_γ = α − 1 − d κ with d the pair's cones, the most by which a relaxed α exceeds the true one: no
///              penetration at any κ
///   normal     one for both bodies, (f_B − f_A) / |f_B − f_A|: impulses are opposite at every iterate
///   friction   one second-order cone with torsion in it; friction 0 has no such cone
///   old state  restitution by Newton's law, and overlaps that are taken back slowly (rebound.hpp); less restitution
///              where an island would gain energy by it (rebound_energy.hpp)
///   momentum   free bodies turn by the midpoint rule and keep it (free_mover.hpp). The impulses of a pair of them act
///              at one point: x carried back by dt v̄, v̄ = (m_B v_A + m_A v_B) / (m_A + m_B), as seen from the old
///              centres
///
/// Islands (bodies that pairs hold together; all articulated trees count as one body) are solved one by one, from the
/// last step's contact or from the geometry, and if that fails by the ladder of `SmoothRung`.
///
/// Loops and mimics are equations beside the velocities (smooth_equality.hpp); bodies in loops count as articulated.
/// Not part of it: rolling friction.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "tangere/contact/contact.hpp"
#include "tangere/contact/gradient_quality.hpp"
#include "tangere/contact/options.hpp"
#include "tangere/contact/scene/collision_scene.hpp"
#include "tangere/contact/smooth/internal/rebound_energy.hpp"
#include "tangere/contact/smooth/internal/smooth_problem.hpp"
#include "tangere/contact/smooth/smooth_warm_start.hpp"
#include "tangere/contact/smooth_contact.hpp"
#include "tangere/multibody/way_columns.hpp"
#include "tangere/proximity/broad_phase.hpp"

namespace tangere {

/// The state of a step and where its smooth dynamics goes.
struct SmoothState {
  Eigen::Ref<const VectorX> q;
  Eigen::Ref<const VectorX> v;
  /// Generalised forces of actuators and controls.
  Eigen::Ref<const VectorX> tau;
  /// v + dt (M + implicit inertia)⁻¹ (all forces); and that inertia, a diagonal.
  Eigen::Ref<const VectorX> v_free;
  Eigen::Ref<const VectorX> implicit_inertia;
};

struct SmoothSolution {
  /// Free bodies: the velocity that has the new momentum at the old attitude.
  VectorX v_plus;
  /// One a pair, with point, normal, impulse; `distance` is the gap along the normal that α tells, `feature_*` are
  /// whole sets: the parts' numbers, and which point of the pair it is.
  std::vector<Contact> contacts;
  SmoothStatistics statistics;
  NcpStatus status = NcpStatus::solved;
  /// The largest of the islands' norms, as parts of κ.
  double residual = 0.0;
  int num_islands = 0;
  /// Islands of free bodies to which contact gives energy, as they turn far within the step.
  int num_gaining = 0;
  /// The smallest part of its restitution that an island keeps (rebound_energy.hpp).
  double restitution_kept = 1.0;
};

class SingleLevelContact {
 public:
  /// Keeps copies of all.
  SingleLevelContact(const Model& model, const CollisionScene& scene, const SmoothUnits& units, double time_step,
                     const SmoothContact& options, const ContactOptions& contact_options, bool bilevel = false);

  SingleLevelContact(const SingleLevelContact&) = delete;
  SingleLevelContact& operator=(const SingleLevelContact&) = delete;

  /// `data` has the poses at q, and the mass matrix if there are trees. Starts after `last` are not tried: an island
  /// that is not solved then ends the solve, nothing is weakened, and the warm start stays. (Without a warm start the
  /// cold one is tried.)
  const SmoothSolution& solve(const Data& data, const SmoothState& state, SmoothRung last = SmoothRung::ones);

  [[nodiscard]] const SmoothProblem& problem() const { return problem_; }
  [[nodiscard]] SmoothProblem& problem() { return problem_; }
  /// The solution of the last `solve`.
  [[nodiscard]] const SmoothSolution& solution() const { return solution_; }
  [[nodiscard]] SmoothWarmStart& warm_start() { return warm_; }
  [[nodiscard]] const SmoothWarmStart& warm_start() const { return warm_; }

  /// For derivatives: sets the step up again unless it is the last one, with the contact of `solved`, `v_plus`, and
  /// refines. The island's factors are then current, one after another: `on_island` is called for each that has any
  /// coordinates. Answers with the worst quality of derivatives taken there; InputError if `solved` is not of such a
  /// step.
  template <class OnIsland>
  GradientQuality revisit(const Data& data, const SmoothState& state, VectorArgument v_plus,
                          const SmoothWarmStart& solved, OnIsland&& on_island) {
    GradientQuality quality = GradientQuality::exact;
    if (!is_set_up(state)) set_up(data, state);
    const bool ready = is_at(solved, v_plus);
    untouched_ = false;
    for (int i = 0; i < num_islands_; ++i) {
      if (ready) {
        island_.keep_evaluation();
      } else {
        select(i);
        load(solved, v_plus);
      }
      if (elastic_) load_limit(solved, static_cast<std::size_t>(i));
      quality = worst(quality, refine());
      if (limit_.held) quality = worst(quality, GradientQuality::restitution_held);
      on_island(island_);
      if (has_rough_rebounds()) quality = worst(quality, GradientQuality::features_held);
    }
    return quality;
  }

  /// Whether the last step, or revisit, was of this very state, for the same sides; and where its smooth dynamics went.
  [[nodiscard]] bool is_set_up(const SmoothState& state) const;
  [[nodiscard]] const VectorX& v_free() const { return v_free_; }

  /// Whether the response of pairs is computed also to sides that are fixed (their placements are parameters).
  void respond_to_every_side(bool on) { every_side_ = on; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const CollisionScene& scene() const { return scene_; }
  [[nodiscard]] const ContactOptions& contact_options() const { return contact_options_; }
  /// The free mover of a body; -1 for what is fixed or part of a tree.
  [[nodiscard]] int mover_of_body(int body) const { return mover_of_body_[body]; }
  [[nodiscard]] bool moves(int body) const { return moves_[body] != 0; }
  /// The body that carries a side of a pair.
  [[nodiscard]] int body_of(const PairSlot& slot, int side) const {
    const int shape = side == 0 ? slot.key.shape_A : slot.key.shape_B;
    return scene_.shapes()[shape].body;
  }
  /// The part of its restitution that the revisited island keeps. F and dF/dx of it, if that moves, at its factors:
  /// then the derivatives of F, and dv⁺/dx, are those of the island.
  [[nodiscard]] bool limit_moves() const { return elastic_ && limit_.moves(); }
  [[nodiscard]] const ReboundLimit& limit() const { return limit_; }
  struct Balance {
    double value = 0.0;
    double slope = 0.0;
  };
  Balance balance_of_limit();
  [[nodiscard]] const ReboundEnergy& energy() const { return energy_; }
  [[nodiscard]] ScratchVector::ConstView by_limit() const { return by_limit_.view(); }
  /// Velocities of all bodies before the step; only if something may bounce or overlaps.
  [[nodiscard]] const BodyVelocities& old_velocities() const { return old_velocities_; }

 private:
  void set_up(const Data& data, const SmoothState& state);
  void find_movers();
  void begin_movers(const Data& data, const SmoothState& state);
  void place_shapes(const Data& data, const SmoothState& state);
  void find_pairs();
  /// A pair of parts, before it has a place.
  struct Candidate {
    PairKey key;
    int mover_A = -1;
    int mover_B = -1;
    int island = 0;
  };
  void add_candidates(int a, int b);
  void add_joint_rows();
  void begin_joint_rows(const SmoothState& state);
  void add_equalities();
  void find_islands();
  void fill_slots();
  /// Metres or radians of an overlap or of a violated limit that a step takes back.
  [[nodiscard]] double recovery() const {
    // a correction of 0 leaves them as they are
    return contact_options_.correction > 0.0 ? time_step_ * contact_options_.correction_speed : 0.0;
  }
  void find_rebounds(const Data& data, const SmoothState& state);
  [[nodiscard]] bool may_overlap(const PairSlot& slot, const Pose& X_A, const Pose& X_B, double recovery) const;
  void lower(PairSlot& slot, Pose& X_A, Pose& X_B) const;
  /// Pose of a part of a shape before the step.
  [[nodiscard]] Pose old_pose(int shape, int part) const;
  /// ε of units of length and speed: what gives way moves within a step, so that it is less the shorter the step is.
  [[nodiscard]] double compliance_of(double length, double speed) const {
    return options_.compliance * options_.kappa * std::min(1.0, time_step_ * speed / length);
  }
  void fill(const Candidate& candidate, PairSlot& slot);
  void select(int island);
  [[nodiscard]] SideBody side_of(int shape, const Pose& X_SP) const;
  [[nodiscard]] int mover_of(int shape) const;
  [[nodiscard]] double torsion_radius(const ConvexSet& A, const ConvexSet& B, double length) const;
  [[nodiscard]] bool owns_axes_B(const PairSlot& slot) const;
  [[nodiscard]] double restitution_of(const PairKey& key) const;

  [[nodiscard]] bool start_warm();
  void start_cold(double nu);
  void start_velocities(SmoothRung rung);
  void start_joint_rows();
  void start_at_ones();
  void load(const SmoothWarmStart& solved, VectorArgument v_plus);
  [[nodiscard]] bool load_pair(const SmoothWarmStart& from, PairSlot& slot);
  [[nodiscard]] bool load_joint_rows(const SmoothWarmStart& from);
  [[nodiscard]] bool is_at(const SmoothWarmStart& solved, VectorArgument v_plus) const;
  [[nodiscard]] NcpResult solve_further(int max_iterations, double refined);
  [[nodiscard]] GradientQuality refine();
  [[nodiscard]] bool factor_what_has_factors();
  [[nodiscard]] bool has_rough_rebounds() const;
  void set_limit(double x);
  void load_limit(const SmoothWarmStart& solved, std::size_t island);
  [[nodiscard]] bool solve_limited(double x);
  [[nodiscard]] bool bounces() const;
  [[nodiscard]] bool limit_rebounds(std::size_t island);
  double weaken();
  [[nodiscard]] bool gains_by_turning();
  [[nodiscard]] NcpResult attempt(SmoothRung rung);
  [[nodiscard]] NcpResult solve_in_stages(double factor, const NcpOptions& ncp);
  bool solve_island(SmoothRung last);
  [[nodiscard]] double fly();
  [[nodiscard]] std::size_t num_pair_rows() const;
  void keep();
  void read_answer();

  Model model_;
  CollisionScene scene_;
  double time_step_;
  SmoothContact options_;
  ContactOptions contact_options_;
  SmoothUnits units_;
  CoordinateUnits coordinates_;
  SmoothProblem problem_;
  SmoothIsland island_;
  NcpSolver solver_;
  BroadPhase broad_phase_;
  bool placed_ = false;
  std::vector<Pose> poses_;
  std::vector<double> reach_of_step_;
  std::vector<int> mover_of_body_;  // -1: fixed or of a tree
  std::vector<char> moves_;         // by body
  bool elastic_ = false;            // whether something may bounce
  BodyVelocities old_velocities_;
  CollisionSolver rebound_solver_;
  ReboundLimit limit_;
  // by island; and the part of its impulses that it keeps, 1 where it is solved
  std::vector<ReboundLimit> limits_;
  std::vector<double> weakened_;
  ReboundEnergy energy_;
  ScratchVector by_share_;
  ScratchVector by_limit_;
  // the state of the last `set_up`
  VectorX q_;
  VectorX v_;
  VectorX tau_;
  VectorX implicit_inertia_;
  VectorX v_free_;
  bool set_up_for_every_side_ = false;
  // nothing has moved since `solve`, which had one island
  bool untouched_ = false;

  // islands, by mover (the tree is the last)
  std::vector<int> parent_;
  std::vector<int> island_of_;
  int num_islands_ = 0;
  std::vector<std::size_t> first_pair_of_;
  std::vector<int> movers_by_island_;
  std::vector<std::size_t> first_mover_of_;
  int tree_island_ = -1;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> order_;
  [[nodiscard]] int root(int i);

  /// Responses also to twists of what is fixed: parameters may move it.
  bool every_side_ = false;
  SmoothWarmStart warm_;
  SmoothSolution solution_;
};

}  // namespace tangere
