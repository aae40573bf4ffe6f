#include "tangere/trajopt/world_dynamics.hpp"

#include <vector>

#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere {
namespace {

World world_of_phase(const World& world, const ContactPhase& phase, double time_step) {
  WorldOptions options = world.options();
  options.time_step = time_step;
  options.formulation = phase.formulation;
  if (phase.formulation != Formulation::lcp) {
    options.smooth.kappa = phase.kappa;
    options.smooth.tolerance = phase.tolerance;
    options.smooth.margin = phase.margin;
  }
  return world.with_options(options);
}

/// One world per time step, one tape per knot.
class WorldStepper final : public Stepper {
 public:
  WorldStepper(const World& world, const VectorX& time_steps, const ContactPhase& phase)
      : workspace_(world_of_phase(world, phase, time_steps[0])),
        tapes_(time_steps.size()),
        world_of_knot_(time_steps.size()),
        state_{VectorX::Zero(world.nq()), VectorX::Zero(world.nv())},
        next_(state_) {
    for (Eigen::Index k = 0; k < time_steps.size(); ++k) world_of_knot_[k] = world_with(world, time_steps[k], phase);
  }

  void begin() override { workspace_.forget(); }

  bool step(int knot, const VectorX& x, const VectorX& u, VectorX& next) override {
    const World& world = worlds_[world_of_knot_[knot]];
    if (!x.allFinite() || !u.allFinite()) return false;
    state_.q = x.head(world.nq());
    state_.v = x.tail(world.nv());
    const StepStatus status = tangere::step(world, state_, u, workspace_, next_, &tapes_[knot]).status;
    if (!is_made(status)) return false;
    next.resize(world.nq() + world.nv());
    next.head(world.nq()) = next_.q;
    next.tail(world.nv()) = next_.v;
    return true;
  }

  bool jacobians(int knot, MatrixX& A, MatrixX& B) override {
    const World& world = worlds_[world_of_knot_[knot]];
    A.resize(2 * world.nv(), 2 * world.nv());
    B.resize(2 * world.nv(), world.nu());
    // one-sided or pruned derivatives are still a direction to go
    (void)step_jacobians(world, tapes_[knot], workspace_, jacobians_);
    jacobians_.copy_to(A, B);
    return A.allFinite() && B.allFinite();
  }

 private:
  int world_with(const World& world, double time_step, const ContactPhase& phase) {
    for (std::size_t i = 0; i < worlds_.size(); ++i)
      if (worlds_[i].options().time_step == time_step) return static_cast<int>(i);
    worlds_.push_back(world_of_phase(world, phase, time_step));
    return static_cast<int>(worlds_.size()) - 1;
  }

  std::vector<World> worlds_;
  Workspace workspace_;
  std::vector<Tape> tapes_;
  std::vector<int> world_of_knot_;
  State state_;
  State next_;
  StepJacobians jacobians_;
};

}  // namespace

void WorldDynamics::plus(const VectorX& x, const VectorX& dx, VectorX& out) const {
  const int nv = world_.nv();
  out.resize(nx());
  out.tail(nv) = x.tail(nv) + dx.tail(nv);
  integrate(world_.model(), x.head(world_.nq()), dx.head(nv), out.head(world_.nq()));
}

void WorldDynamics::minus(const VectorX& x_0, const VectorX& x_1, VectorX& dx) const {
  const int nq = world_.nq();
  const int nv = world_.nv();
  dx.resize(2 * nv);
  difference(world_.model(), x_0.head(nq), x_1.head(nq), dx.head(nv));
  dx.tail(nv) = x_1.tail(nv) - x_0.tail(nv);
}

void WorldDynamics::minus_jacobian(const VectorX& x_0, const VectorX& x_1, MatrixX& J) const {
  const int nq = world_.nq();
  const int nv = world_.nv();
  J.setIdentity(2 * nv, 2 * nv);
  if (nq == nv) return;
  MatrixX d_0(nv, nv), d_1(nv, nv);
  difference_jacobians(world_.model(), x_0.head(nq), x_1.head(nq), d_0, d_1);
  J.topLeftCorner(nv, nv) = d_1;
}

std::string WorldDynamics::control_name(int i) const {
  if (world_.actuators().empty()) return world_.model().dof_name(i);
  const std::string& name = world_.actuators()[i].name;
  return name.empty() ? Dynamics::control_name(i) : name;
}

std::string WorldDynamics::state_name(int i) const {
  const int nv = world_.nv();
  return i < nv ? world_.model().dof_name(i) : "velocity of " + world_.model().dof_name(i - nv);
}

void WorldDynamics::control_limits(VectorX& lower, VectorX& upper) const {
  Dynamics::control_limits(lower, upper);
  for (std::size_t i = 0; i < world_.actuators().size(); ++i) {
    lower[static_cast<int>(i)] = world_.actuators()[i].lower_control;
    upper[static_cast<int>(i)] = world_.actuators()[i].upper_control;
  }
}

std::unique_ptr<Stepper> WorldDynamics::stepper(const VectorX& time_steps, const ContactPhase& phase) const {
  return std::make_unique<WorldStepper>(world_, time_steps, phase);
}

}  // namespace tangere
