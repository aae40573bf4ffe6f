#include "tangere/sim/world.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>

#include "tangere/contact/scene/row_scales.hpp"
#include "tangere/contact/smooth/free_mover.hpp"
#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/internal/lone_body.hpp"

namespace tangere {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string name_of(const std::vector<Actuator>& actuators, std::size_t i) {
  return actuators[i].name.empty() ? "actuators[" + std::to_string(i) + "]" : actuators[i].name;
}

void verify_actuators(const Model& model, const std::vector<Actuator>& actuators) {
  for (std::size_t i = 0; i < actuators.size(); ++i) {
    const Actuator& actuator = actuators[i];
    const std::string name = name_of(actuators, i);
    if (actuator.dof < 0 || actuator.dof >= model.nv())
      throw InputError(name + ".dof", "must be between 0 and " + std::to_string(model.nv() - 1) + ", got " +
                                          std::to_string(actuator.dof));
    internal::require_finite(name + ".gear", actuator.gear);
    internal::require_finite(name + ".gain", actuator.gain);
    internal::require_finite(name + ".damping", actuator.damping);
    internal::require_finite(name + ".bias", actuator.bias);
    internal::require_finite(name + ".stiffness", actuator.stiffness);
    if (!(actuator.lower_control <= actuator.upper_control))
      throw InputError(name + ".lower_control", "must not be above upper_control");
    if (!(actuator.lower_force <= actuator.upper_force))
      throw InputError(name + ".lower_force", "must not be above upper_force");
  }
}

bool has_restitution(const Model& model) {
  for (const Body& body : model.bodies())
    for (const CollisionShape& shape : body.spec.shapes)
      if (shape.restitution > 0.0) return true;
  return false;
}

/// Inertia and shapes only.
Model weightless(const Model& model) {
  ModelBuilder builder(model);
  builder.set_gravity(Vector3::Zero());
  for (int j = 0; j < model.num_bodies(); ++j) {
    JointSpec joint = model.joint(j).spec;
    for (DofSpec& dof : joint.dofs) dof.stiffness = dof.damping = 0.0;
    builder.set_joint(j, std::move(joint));
  }
  return builder.build();
}

/// Positions are what position and affine actuators follow: not the turns of ball and free joints.
void verify_positions(const Model& model, const std::vector<Actuator>& actuators) {
  for (std::size_t i = 0; i < actuators.size(); ++i) {
    const Actuator& actuator = actuators[i];
    if (law_of(actuator).stiffness == 0.0) continue;
    for (const Joint& joint : model.joints())
      if (actuator.dof >= joint.first_v && actuator.dof < joint.first_v + joint.nv && joint.nq != joint.nv)
        throw InputError(name_of(actuators, i) + ".dof", "an actuator with stiffness needs a coordinate, and joint '" +
                                                             joint.spec.name + "' has a quaternion");
  }
}

/// Terms of an actuator that act at the end of the step: none on a free joint, as with its dampers.
ServoTerms servo_terms_of(const std::vector<int>& free_dofs, const Actuator& actuator) {
  for (const int first : free_dofs)
    if (actuator.dof >= first && actuator.dof < first + 6) return {};
  const ActuatorLaw law = law_of(actuator);
  return {.stiffness = std::max(0.0, law.stiffness), .damping = std::max(0.0, law.damping)};
}

}  // namespace

void WorldOptions::verify() const {
  if (!(time_step > 0.0 && time_step <= 1.0))
    throw InputError("time_step", "must be above 0 and at most 1 s, got " + internal::to_text(time_step));
  internal::with_prefix("contact", [&] { contact.verify(); });
  internal::with_prefix("hard", [&] { hard.verify(); });
  internal::with_prefix("smooth", [&] { smooth.verify(); });
  if (formulation != Formulation::lcp && integrator != Integrator::semi_implicit)
    throw InputError("integrator", "smooth contact needs the semi-implicit integrator");
  if (formulation != Formulation::lcp && hard.rolling_friction > 0.0)
    throw InputError("hard.rolling_friction", "is for hard contact: smooth contact has torsional friction only");
}

WorldOptions WorldChanges::applied_to(WorldOptions options) const {
  if (time_step) options.time_step = *time_step;
  if (formulation) options.formulation = *formulation;
  if (kappa) options.smooth.kappa = *kappa;
  if (gradient_kappa) options.smooth.gradient_kappa = *gradient_kappa;
  if (tolerance) {
    const bool hard = options.formulation == Formulation::lcp;
    (hard ? options.hard.tolerance : options.smooth.tolerance) = *tolerance;
  }
  return options;
}

struct World::Parts {
  Parts(const Model& model_, std::vector<Actuator> actuators_, const RowScales& scales_, State start_);
  std::uint64_t number;
  Model model;
  std::vector<Actuator> actuators;
  CollisionScene scene;
  RowScales scales;
  std::shared_ptr<const Model> impact_model;
  State start;
};

World::Parts::Parts(const Model& model_, std::vector<Actuator> actuators_, const RowScales& scales_, State start_)
    : number(next_number()),
      model(model_),
      actuators(std::move(actuators_)),
      scene(model),
      scales(scales_),
      start(std::move(start_)) {
  verify_actuators(model, actuators);
  verify_positions(model, actuators);
  if (has_restitution(model)) impact_model = std::make_shared<const Model>(weightless(model));
}

World::World(const Model& model, std::vector<Actuator> actuators, const WorldOptions& options)
    : World(std::make_shared<const Parts>(model, std::move(actuators), RowScales(model),
                                          State{neutral_configuration(model), VectorX::Zero(model.nv())}),
            options) {}

World::World(const Scene& scene, const WorldChanges& changes)
    : World(std::make_shared<const Parts>(scene.robot.model, scene.robot.actuators, RowScales(scene.robot.model),
                                          State{scene.q, scene.v}),
            changes.applied_to({.time_step = scene.time_step})) {}

World World::with(const WorldChanges& changes) const { return World(parts_, changes.applied_to(options_)); }

World World::with_contact(const HardContact& contact) const {
  WorldOptions options = options_;
  options.formulation = Formulation::lcp;
  options.hard = contact;
  return with_options(options);
}

World World::with_contact(const SmoothContact& contact) const {
  WorldOptions options = options_;
  if (options.formulation == Formulation::lcp) options.formulation = Formulation::single_level;
  options.smooth = contact;
  return with_options(options);
}

World World::with_options(const WorldOptions& options) const { return World(parts_, options); }

World World::with_model(const Model& model) const {
  return World(std::make_shared<const Parts>(model, actuators(), scales(), default_state()), options_);
}

World::World(std::shared_ptr<const Parts> parts, const WorldOptions& options)
    : number_(next_number()),
      parts_(std::move(parts)),
      parts_number_(parts_->number),
      model_(&parts_->model),
      actuators_(&parts_->actuators),
      scene_(&parts_->scene),
      scales_(&parts_->scales),
      impact_model_(parts_->impact_model.get()),
      options_(options) {
  options_.verify();
  const Model& model = parts_->model;
  lone_bodies_ =
      find_lone_bodies(model, options_.formulation == Formulation::lcp ? find_lone_links(model)
                                                                       : find_free_movers(model, options_.contact));
  passive_damping_.setZero(model.nv());
  passive_stiffness_.setZero(model.nv());
  for (const Joint& joint : model.joints()) {
    if (joint.spec.type == JointType::free) {
      free_dofs_.push_back(joint.first_v);
      const bool alone = std::any_of(lone_bodies_.begin(), lone_bodies_.end(),
                                     [&](const LoneBody& body) { return body.first_v == joint.first_v; });
      if (!alone) floating_dofs_.push_back(joint.first_v);
      continue;
    }
    for (int k = joint.first_v; k < joint.first_v + joint.nv; ++k) {
      const DofSpec& dof = model.dofs()[k];
      passive_damping_[k] = dof.damping;
      passive_stiffness_[k] = dof.stiffness;
    }
  }
  for (const Actuator& actuator : parts_->actuators) servo_terms_.push_back(servo_terms_of(free_dofs_, actuator));
}

const State& World::default_state() const { return parts_->start; }

VectorX World::lower_control() const {
  VectorX out = VectorX::Constant(nu(), -Actuator::kInfinity);
  for (std::size_t i = 0; i < actuators().size(); ++i) out[static_cast<int>(i)] = actuators()[i].lower_control;
  return out;
}

VectorX World::upper_control() const {
  VectorX out = VectorX::Constant(nu(), Actuator::kInfinity);
  for (std::size_t i = 0; i < actuators().size(); ++i) out[static_cast<int>(i)] = actuators()[i].upper_control;
  return out;
}

}  // namespace tangere
