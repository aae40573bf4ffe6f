#include "tangere/trajopt/world_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
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

/// The worlds of one θ, one per time step.
struct Worlds {
  VectorX theta;
  std::vector<World> of_length;
};

/// Memory of one thread.
struct Thread {
  Worlds worlds;
  std::optional<Workspace> workspace;
  State state;
  State next;
  Tape tape;
  StepJacobians jacobians;
  StepParameterJacobians by_parameter;
  MatrixX from_q;
  MatrixX from_next;
  MatrixX by_start;
  MatrixX by_part;
  MatrixX A;
  MatrixX B;
  VectorX next_x;
  VectorX way;
  VectorX theta;
};

/// One tape per knot.
class WorldStepper final : public Stepper {
 public:
  WorldStepper(const WorldDynamics& dynamics, const VectorX& time_steps, const ContactPhase& phase, int num_threads)
      : dynamics_(dynamics),
        phase_(phase),
        tapes_(time_steps.size()),
        world_of_knot_(time_steps.size()),
        threads_(num_threads) {
    for (Eigen::Index k = 0; k < time_steps.size(); ++k) {
      const auto known = std::find(lengths_.begin(), lengths_.end(), time_steps[k]);
      world_of_knot_[k] = static_cast<int>(known - lengths_.begin());
      if (known == lengths_.end()) lengths_.push_back(time_steps[k]);
    }
    const World& world = dynamics.world();
    for (Thread& own : threads_) {
      own.state = own.next = {VectorX::Zero(world.nq()), VectorX::Zero(world.nv())};
      make_worlds(world, VectorX::Zero(0), own);
    }
  }

  void begin(bool is_trial) override {
    is_trial_ = is_trial;
    at_start_ = true;
  }

  bool step(int knot, const VectorX& x, const VectorX& u, VectorX& next) override {
    Thread& own = threads_[0];
    theta_ = x.tail(dynamics_.num_design());
    if (!x.allFinite() || !u.allFinite() || !set_theta(theta_, own)) return false;
    read_state(x, own.state);
    const World& world = own.worlds.of_length[world_of_knot_[knot]];
    const StepResult& result = tangere::step(world, own.state, u, *own.workspace, own.next, &tapes_[knot], options());
    at_start_ = false;
    if (!is_made(result.status)) return false;
    write_state(own.next, x, next);
    return true;
  }

  bool step_with_jacobians(int knot, const VectorX& x, const VectorX& u, VectorX& next, MatrixX& A,
                           MatrixX& B) override {
    return step(knot, x, u, next) && jacobians(knot, 0, A, B);
  }

  bool jacobians(int knot, int thread, MatrixX& A, MatrixX& B) override {
    if (!set_theta(theta_, threads_[thread])) return false;
    return read_jacobians(knot, thread, tapes_[knot], A, B);
  }

  bool linearize(int knot, int thread, const VectorX& x, const VectorX& u, VectorX& next, MatrixX& A,
                 MatrixX& B) override {
    Thread& own = threads_[thread];
    return cold_step(knot, thread, x, u, next) && read_jacobians(knot, thread, own.tape, A, B);
  }

  /// Velocities are those of the end, as in the discrete motion, which is straight between the knots:
  /// q(τ) = q ⊕ τ (q' ⊖ q), v(τ) = v + τ (v' - v).
  bool between(int knot, int thread, const VectorX& x, const VectorX& u, double tau, VectorX& out, MatrixX* A,
               MatrixX* B) override {
    Thread& own = threads_[thread];
    if (!cold_step(knot, thread, x, u, own.next_x)) return false;
    dynamics_.minus(x, own.next_x, own.way);
    own.way *= tau;
    dynamics_.plus(x, own.way, out);
    if (A == nullptr) return out.allFinite();
    if (!read_jacobians(knot, thread, own.tape, own.A, own.B)) return false;
    // d out = P_x dx + P_w τ (M_0 dx + M_1 (A dx + B du)), the four of plus and minus
    const int nv = dynamics_.world().nv();
    const Model& model = dynamics_.world().model();
    own.by_start.setIdentity(own.A.rows(), own.A.cols());
    own.by_start *= 1.0 - tau;
    own.by_part.setIdentity(own.A.rows(), own.A.cols());
    own.by_part *= tau;
    if (!dynamics_.is_flat()) {
      const auto q = x.head(model.nq());
      own.from_q.resize(nv, nv);
      own.from_next.resize(nv, nv);
      MatrixX d_q(nv, nv), d_way(nv, nv);
      difference_jacobians(model, q, own.next_x.head(model.nq()), own.from_q, own.from_next);
      integrate_jacobians(model, q, own.way.head(nv), d_q, d_way);
      own.by_start.topLeftCorner(nv, nv) = d_q + tau * d_way * own.from_q;
      own.by_part.topLeftCorner(nv, nv) = tau * d_way * own.from_next;
    }
    *A = own.by_start;
    A->noalias() += own.by_part * own.A;
    B->noalias() = own.by_part * own.B;
    return A->allFinite() && B->allFinite();
  }

 private:
  [[nodiscard]] StepOptions options() const {
    StepOptions options{.start = at_start_ ? StepStart::cold : StepStart::last, .max_speed = phase_.max_speed};
    if (is_trial_) options.effort = phase_.trial_effort;
    return options;
  }

  void read_state(const VectorX& x, State& state) const {
    const World& world = dynamics_.world();
    state.q = x.head(world.nq());
    state.v = x.segment(world.nq(), world.nv());
  }

  void write_state(const State& state, const VectorX& x, VectorX& next) const {
    const World& world = dynamics_.world();
    next.resize(x.size());
    next.head(world.nq()) = state.q;
    next.segment(world.nq(), world.nv()) = state.v;
    next.tail(dynamics_.num_design()) = x.tail(dynamics_.num_design());
  }

  bool cold_step(int knot, int thread, const VectorX& x, const VectorX& u, VectorX& next) {
    Thread& own = threads_[thread];
    if (!x.allFinite() || !u.allFinite()) return false;
    own.theta = x.tail(dynamics_.num_design());
    if (!set_theta(own.theta, own)) return false;
    read_state(x, own.state);
    const StepOptions cold{.start = StepStart::cold, .max_speed = phase_.max_speed};
    const World& world = own.worlds.of_length[world_of_knot_[knot]];
    const StepResult& result = tangere::step(world, own.state, u, *own.workspace, own.next, &own.tape, cold);
    if (!is_made(result.status)) return false;
    write_state(own.next, x, next);
    return true;
  }

  bool read_jacobians(int knot, int thread, const Tape& tape, MatrixX& A, MatrixX& B) {
    Thread& own = threads_[thread];
    const World& world = own.worlds.of_length[world_of_knot_[knot]];
    Workspace& workspace = *own.workspace;
    const int n = 2 * world.nv();
    const int num_design = dynamics_.num_design();
    A.resize(n + num_design, n + num_design);
    B.resize(n + num_design, world.nu());
    // one-sided or pruned derivatives are still a direction to go
    (void)step_jacobians(world, tape, workspace, own.jacobians);
    own.jacobians.copy_to(A.topLeftCorner(n, n), B.topRows(n));
    if (num_design > 0) {
      (void)step_parameter_jacobians(world, tape, workspace, dynamics_.parameters(), own.by_parameter);
      A.topRightCorner(n, num_design).topRows(world.nv()).noalias() = own.by_parameter.q * dynamics_.parameter_map();
      A.topRightCorner(n, num_design).bottomRows(world.nv()).noalias() = own.by_parameter.v * dynamics_.parameter_map();
      A.bottomLeftCorner(num_design, n).setZero();
      A.bottomRightCorner(num_design, num_design).setIdentity();
      B.bottomRows(num_design).setZero();
    }
    return A.allFinite() && B.allFinite();
  }

  /// Whether there are worlds of this θ.
  bool set_theta(const VectorX& theta, Thread& own) {
    if (theta.size() == 0 || (own.worlds.theta.size() == theta.size() && own.worlds.theta == theta)) return true;
    try {
      make_worlds(dynamics_.world_at(theta), theta, own);
    } catch (const InputError&) {
      return false;
    }
    return true;
  }

  void make_worlds(const World& world, const VectorX& theta, Thread& own) {
    own.worlds = {theta, {}};
    for (const double length : lengths_) own.worlds.of_length.push_back(world_of_phase(world, phase_, length));
    own.workspace.emplace(own.worlds.of_length[0]);
  }

  const WorldDynamics& dynamics_;
  ContactPhase phase_;
  std::vector<double> lengths_;
  std::vector<Tape> tapes_;
  std::vector<int> world_of_knot_;
  std::vector<Thread> threads_;
  /// Parameters of the last step.
  VectorX theta_;
  bool is_trial_ = false;
  bool at_start_ = true;
};

}  // namespace

DesignVariable design_variable(const World& world, std::string_view parameter) {
  const StepParameter found = find_step_parameter(world, parameter);
  return {std::string(parameter), parameter_values(world, std::span(&found, 1))[0], {{found}}};
}

WorldDynamics::WorldDynamics(World world, std::vector<DesignVariable> design)
    : world_(std::move(world)), design_(std::move(design)) {
  for (const DesignVariable& variable : design_) {
    if (!std::isfinite(variable.value)) throw InputError(variable.name + ".value", "must be finite");
    if (variable.parts.empty()) throw InputError(variable.name + ".parts", "must have at least one entry");
    for (const DesignVariable::Part& part : variable.parts) {
      if (!std::isfinite(part.factor)) throw InputError(variable.name + ".factor", "must be finite");
      internal::with_prefix(variable.name, [&] { require_parameter(world_, part.parameter); });
      if (std::find(parameters_.begin(), parameters_.end(), part.parameter) == parameters_.end())
        parameters_.push_back(part.parameter);
    }
  }
  map_.setZero(static_cast<int>(parameters_.size()), num_design());
  for (int j = 0; j < num_design(); ++j)
    for (const DesignVariable::Part& part : design_[j].parts) {
      const auto at = std::find(parameters_.begin(), parameters_.end(), part.parameter) - parameters_.begin();
      map_(static_cast<int>(at), j) += part.factor;
    }
  values_ = parameter_values(world_, parameters_);
}

World WorldDynamics::world_at(const Eigen::Ref<const VectorX>& theta) const {
  if (theta.size() != num_design())
    throw InputError("theta",
                     "must have " + std::to_string(num_design()) + " entries, got " + std::to_string(theta.size()));
  if (num_design() == 0) return world_;
  VectorX change(num_design());
  for (int j = 0; j < num_design(); ++j) change[j] = theta[j] - design_[j].value;
  const VectorX values = values_ + map_ * change;
  return with_parameters(world_, parameters_, values);
}

bool WorldDynamics::has_fixed_geometry() const {
  return std::none_of(parameters_.begin(), parameters_.end(), [](const StepParameter& p) {
    using Kind = Parameter::Kind;
    if (p.kind == StepParameter::Kind::shape_placement || p.kind == StepParameter::Kind::shape_size) return true;
    const bool is_of_bodies =
        p.model.kind == Kind::mass || p.model.kind == Kind::center || p.model.kind == Kind::placement;
    return p.kind == StepParameter::Kind::model && is_of_bodies;
  });
}

VectorX WorldDynamics::state(const VectorX& q, const VectorX& v) const {
  VectorX x(nx());
  x.head(world_.nq()) = q;
  x.segment(world_.nq(), world_.nv()) = v;
  for (int j = 0; j < num_design(); ++j) x[world_.nq() + world_.nv() + j] = design_[j].value;
  return x;
}

void WorldDynamics::plus(const VectorX& x, const VectorX& dx, VectorX& out) const {
  const int nq = world_.nq();
  const int nv = world_.nv();
  out.resize(nx());
  out.tail(nx() - nq) = x.tail(nx() - nq) + dx.tail(nx() - nq);
  integrate(world_.model(), x.head(nq), dx.head(nv), out.head(nq));
}

void WorldDynamics::minus(const VectorX& x_0, const VectorX& x_1, VectorX& dx) const {
  const int nq = world_.nq();
  const int nv = world_.nv();
  dx.resize(ndx());
  difference(world_.model(), x_0.head(nq), x_1.head(nq), dx.head(nv));
  dx.tail(nx() - nq) = x_1.tail(nx() - nq) - x_0.tail(nx() - nq);
}

void WorldDynamics::minus_jacobian(const VectorX& x_0, const VectorX& x_1, MatrixX& J) const {
  const int nq = world_.nq();
  const int nv = world_.nv();
  J.setIdentity(ndx(), ndx());
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
  if (i >= 2 * nv) return design_[i - 2 * nv].name;
  return i < nv ? world_.model().dof_name(i) : "velocity of " + world_.model().dof_name(i - nv);
}

void WorldDynamics::control_limits(VectorX& lower, VectorX& upper) const {
  Dynamics::control_limits(lower, upper);
  for (std::size_t i = 0; i < world_.actuators().size(); ++i) {
    lower[static_cast<int>(i)] = world_.actuators()[i].lower_control;
    upper[static_cast<int>(i)] = world_.actuators()[i].upper_control;
  }
}

std::unique_ptr<Stepper> WorldDynamics::stepper(const VectorX& time_steps, const ContactPhase& phase,
                                                int num_threads) const {
  return std::make_unique<WorldStepper>(*this, time_steps, phase, num_threads);
}

}  // namespace tangere
