#include "tangere/sim/world.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>

#include "tangere/contact/free_mover.hpp"
#include "tangere/contact/smooth_support.hpp"
#include "tangere/geometry/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/sim/lone_body.hpp"

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
    detail::require_finite(name + ".gear", actuator.gear);
    detail::require_finite(name + ".gain", actuator.gain);
    detail::require_finite(name + ".damping", actuator.damping);
    detail::require_finite(name + ".bias", actuator.bias);
    detail::require_finite(name + ".stiffness", actuator.stiffness);
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

/// What of an actuator can act at the end of the step: nothing of one that moves a free joint, as with its dampers.
ServoTerms servo_terms_of(const std::vector<int>& free_dofs, const Actuator& actuator) {
  for (const int first : free_dofs)
    if (actuator.dof >= first && actuator.dof < first + 6) return {};
  const ActuatorLaw law = law_of(actuator);
  return {.stiffness = std::max(0.0, law.stiffness), .damping = std::max(0.0, law.damping)};
}

}  // namespace

void WorldOptions::verify() const {
  if (!(time_step > 0.0 && time_step <= 1.0))
    throw InputError("time_step", "must be above 0 and at most 1 s, got " + detail::to_text(time_step));
  detail::with_prefix("contact", [&] { contact.verify(); });
  detail::with_prefix("smooth", [&] { smooth.verify(); });
  if (formulation != Formulation::lcp && integrator != Integrator::semi_implicit)
    throw InputError("integrator", "smooth contact needs the semi-implicit integrator");
}

World::World(const Model& model, std::vector<Actuator> actuators, const WorldOptions& options)
    : World(model, std::move(actuators), options, RowScales(model)) {}

World::World(Model model, std::vector<Actuator> actuators, const WorldOptions& options, RowScales scales)
    : number_(next_number()),
      model_(std::move(model)),
      actuators_(std::move(actuators)),
      options_(options),
      scene_(model_),
      scales_(std::move(scales)) {
  options_.verify();
  verify_actuators(model_, actuators_);
  verify_positions(model_, actuators_);
  if (options_.formulation != Formulation::lcp) require_smooth_support(options_.contact);
  if (has_restitution(model_)) impact_model_ = std::make_shared<const Model>(weightless(model_));
  lone_bodies_ =
      find_lone_bodies(model_, options_.formulation == Formulation::lcp ? find_lone_links(model_)
                                                                        : find_free_movers(model_, options_.contact));
  implicit_inertia_.setZero(model_.nv());
  implicit_damping_.setZero(model_.nv());
  for (const Joint& joint : model_.joints()) {
    if (joint.spec.type == JointType::free) {
      free_dofs_.push_back(joint.first_v);
      const bool alone = std::any_of(lone_bodies_.begin(), lone_bodies_.end(),
                                     [&](const LoneBody& body) { return body.first_v == joint.first_v; });
      if (!alone) floating_dofs_.push_back(joint.first_v);
      continue;
    }
    for (int k = joint.first_v; k < joint.first_v + joint.nv; ++k) {
      const DofSpec& dof = model_.dofs()[static_cast<std::size_t>(k)];
      implicit_damping_[k] = options_.time_step * dof.stiffness;
      implicit_inertia_[k] = options_.time_step * (dof.damping + implicit_damping_[k]);
    }
  }
  for (const Actuator& actuator : actuators_) servo_terms_.push_back(servo_terms_of(free_dofs_, actuator));
}

}  // namespace tangere
