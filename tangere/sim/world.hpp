#pragma once

/// A world to simulate: a model (any number of robots, free and fixed bodies), its actuators, and how steps are made.
/// Constant once made, shared between threads, cheap to copy.
///
///   const World world(load_scene("scenes/arm.json"));
///   const World smooth = world.with({.formulation = Formulation::single_level, .kappa = 1e-3});

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tangere/contact/formulation.hpp"
#include "tangere/contact/hard_contact.hpp"
#include "tangere/contact/options.hpp"
#include "tangere/contact/scene/collision_scene.hpp"
#include "tangere/contact/smooth_contact.hpp"
#include "tangere/multibody/actuator.hpp"
#include "tangere/multibody/data.hpp"
#include "tangere/multibody/model.hpp"
#include "tangere/sim/scene.hpp"

namespace tangere {

enum class Integrator {
  /// q' = q ⊕ dt v'.
  semi_implicit,
  /// q' = q ⊕ dt v, with the old velocity, as Nimble has it.
  explicit_position,
};

struct WorldOptions {
  /// Seconds.
  double time_step = 1e-3;
  /// Smooth contact needs the semi-implicit one.
  Integrator integrator = Integrator::semi_implicit;
  ContactOptions contact = {};
  /// How contact is solved.
  Formulation formulation = Formulation::lcp;
  /// Options of each formulation; those of the others wait until a world changes to them.
  HardContact hard = {};
  SmoothContact smooth = {};

  /// Throws InputError naming the first field out of range.
  void verify() const;
  bool operator==(const WorldOptions&) const = default;
};

/// Changes to the options of a world. What is not given stays as it is.
struct WorldChanges {
  /// Seconds.
  std::optional<double> time_step{};
  std::optional<Formulation> formulation{};
  /// SmoothContact::kappa and gradient_kappa.
  std::optional<double> kappa{};
  std::optional<double> gradient_kappa{};
  /// HardContact::tolerance or SmoothContact::tolerance.
  std::optional<double> tolerance{};

  [[nodiscard]] WorldOptions applied_to(WorldOptions options) const;
};

class RowScales;

struct State {
  VectorX q;
  VectorX v;
};

/// A free body that nothing hangs from, and the bodies fixed to it: its moments in the axes of its joint, the inertia
/// about the centre (sim/internal/lone_body.hpp).
struct LoneBody {
  int first_v = 0;
  Vector3 center = Vector3::Zero();
  Matrix3 inertia = Matrix3::Zero();
  Matrix3 inverse = Matrix3::Zero();
};

/// Region of an actuator's force at the end of a step: it follows its law, or it stays at an end of its range
/// (sim/actuation.hpp).
enum class ActuatorRegion : char { follows, lower, upper };
using ActuatorRegions = std::span<const ActuatorRegion>;

/// The stiffness and the damping of an actuator's law that act on the velocity at the end of the step, at least 0.
struct ServoTerms {
  double stiffness = 0.0;
  double damping = 0.0;
};

class World {
 public:
  /// Without actuators the control is the generalised force itself. Throws InputError for wrong options, actuators of
  /// coordinates that do not exist, and half-spaces that move.
  explicit World(const Model& model, std::vector<Actuator> actuators = {}, const WorldOptions& options = {});
  /// Everything in a scene, with its time step unless `changes` has another one.
  explicit World(const Scene& scene, const WorldChanges& changes = {});

  /// The same bodies, joints and scales, stepped in another way. Shares all that is large; workspaces keep their warm
  /// starts.
  [[nodiscard]] World with(const WorldChanges& changes) const;
  /// Stepped by hard contact, or by smooth contact (Formulation::single_level unless it was bilevel), with these
  /// options.
  [[nodiscard]] World with_contact(const HardContact& contact) const;
  [[nodiscard]] World with_contact(const SmoothContact& contact) const;
  [[nodiscard]] World with_options(const WorldOptions& options) const;
  /// The same scales of compliances, options, actuators and start for another model of the same bodies and joints.
  [[nodiscard]] World with_model(const Model& model) const;
  /// Moving is copying: what was moved from stays a world.
  World(const World&) = default;
  World& operator=(const World&) = default;
  ~World() = default;

  /// Worlds that have the same number are the same: copies of one.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Worlds that have the same number here are of the same bodies, joints, actuators and scales.
  [[nodiscard]] std::uint64_t parts_number() const { return parts_number_; }
  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const std::vector<Actuator>& actuators() const { return *actuators_; }
  [[nodiscard]] const WorldOptions& options() const { return options_; }
  [[nodiscard]] const CollisionScene& scene() const { return *scene_; }
  /// How easily its bodies move, in general: what compliances are relative to.
  [[nodiscard]] const RowScales& scales() const { return *scales_; }
  [[nodiscard]] int nq() const { return model().nq(); }
  [[nodiscard]] int nv() const { return model().nv(); }
  /// The size of a control.
  [[nodiscard]] int nu() const { return actuators().empty() ? nv() : static_cast<int>(actuators().size()); }
  /// The state of its scene; else the neutral configuration at rest.
  [[nodiscard]] const State& default_state() const;
  /// The ranges of the actuators' controls (infinite where there is none).
  [[nodiscard]] VectorX lower_control() const;
  [[nodiscard]] VectorX upper_control() const;
  /// Zero.
  [[nodiscard]] VectorX default_control() const { return VectorX::Zero(nu()); }
  /// First velocity coordinates of the free joints.
  [[nodiscard]] const std::vector<int>& free_dofs() const { return free_dofs_; }
  /// The free bodies that nothing hangs from, and the other free joints, of which only the linear momentum is kept in
  /// flight. With smooth contact those with armature and those in loops are among the others.
  [[nodiscard]] const std::vector<LoneBody>& lone_bodies() const { return lone_bodies_; }
  [[nodiscard]] const std::vector<int>& floating_dofs() const { return floating_dofs_; }
  /// Damping and stiffness of every coordinate. Dampers and springs act on the velocity at the end of the step, so that
  /// they are stable however strong. (Those of free joints act on the old one: 0.) Actuators add theirs on top
  /// (sim/actuation.hpp).
  [[nodiscard]] const VectorX& passive_damping() const { return passive_damping_; }
  [[nodiscard]] const VectorX& passive_stiffness() const { return passive_stiffness_; }
  /// The model without gravity, springs and dampers, whose impacts bounce; null if nothing has restitution.
  [[nodiscard]] const Model* impact_model() const { return impact_model_; }
  /// One an actuator.
  [[nodiscard]] const std::vector<ServoTerms>& servo_terms() const { return servo_terms_; }

 private:
  /// The parts shared by worlds that are stepped in different ways.
  struct Parts;
  World(std::shared_ptr<const Parts> parts, const WorldOptions& options);

  std::uint64_t number_;
  std::shared_ptr<const Parts> parts_;
  // what is in parts_
  std::uint64_t parts_number_ = 0;
  const Model* model_ = nullptr;
  const std::vector<Actuator>* actuators_ = nullptr;
  const CollisionScene* scene_ = nullptr;
  const RowScales* scales_ = nullptr;
  const Model* impact_model_ = nullptr;
  WorldOptions options_;
  std::vector<int> free_dofs_;
  std::vector<int> floating_dofs_;
  std::vector<LoneBody> lone_bodies_;
  VectorX passive_damping_;
  VectorX passive_stiffness_;
  std::vector<ServoTerms> servo_terms_;
};

}  // namespace tangere
