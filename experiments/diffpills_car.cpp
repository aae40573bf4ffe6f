/// DiffPills, the car: a car drives round a bus that stands between its start and its goal. The paper gives no numbers;
/// these are ours. State (px, py, θ, v, γ), controls (acceleration, rate of steering),
///
///   ṗ = v (cos θ, sin θ),  θ̇ = v tan γ / wheelbase,  v̇ = u_1,  γ̇ = u_2

#include <cmath>
#include <limits>

#include "experiments/optimize_task.hpp"
#include "tangere/trajopt/function_dynamics.hpp"

namespace tangere::experiments {
namespace {

constexpr double kWheelbase = 2.5;
constexpr int kSteps = 60;
constexpr double kTimeStep = 0.1;

void drive(const VectorX& x, const VectorX& u, double /*h*/, VectorX& out, FunctionJacobians* J) {
  const double c = std::cos(x[2]);
  const double s = std::sin(x[2]);
  const double t = std::tan(x[4]);
  out << x[3] * c, x[3] * s, x[3] * t / kWheelbase, u[0], u[1];
  if (J == nullptr) return;
  J->x(0, 2) = -x[3] * s;
  J->x(0, 3) = c;
  J->x(1, 2) = x[3] * c;
  J->x(1, 3) = s;
  J->x(2, 3) = t / kWheelbase;
  J->x(2, 4) = x[3] * (1.0 + t * t) / kWheelbase;
  J->u(3, 0) = 1.0;
  J->u(4, 1) = 1.0;
}

Pose pose_at(const VectorX& x) { return {Eigen::AngleAxisd(x[2], Vector3::UnitZ()).matrix(), {x[0], x[1], 0.0}}; }

}  // namespace

OptimizeTask diffpills_car() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  VectorX start(5), goal(5), bound(5), u_max(2);
  start << -12.0, 0.0, 0.0, 0.0, 0.0;
  goal << 12.0, -3.0, 0.0, 0.0, 0.0;
  bound << kInfinity, kInfinity, kInfinity, kInfinity, 0.6;
  u_max << 6.0, 0.9;
  const auto dynamics = std::make_shared<FunctionDynamics>(5, 2, runge_kutta(5, 2, drive));
  OptimalControl problem(dynamics, {start, constant_steps(kSteps, kTimeStep)});
  problem.add(StateCost{.target = goal, .weight = all_of(0.01)});
  problem.add(ControlCost{.weight = all_of(0.1)});
  problem.add(ControlBounds{.lower = -u_max, .upper = u_max});
  problem.add(StateBounds{.name = "steering", .lower = -bound, .upper = bound});
  problem.add(Reach{.name = "goal", .target = goal});
  const Collider car{"car", Capsule{1.0, 2.5}, [](const Knot& knot, Pose& X, Eigen::Ref<MatrixX>* J) {
                       X = pose_at(knot.x);
                       if (J == nullptr) return;
                       (*J)(0, 0) = (*J)(1, 1) = (*J)(5, 2) = 1.0;
                     }};
  const std::vector<Collider> bus = {fixed("bus", Capsule{1.5, 8.0}, Pose{})};
  add(problem, KeepApart{.name = "clear", .movers = {car}, .obstacles = bus, .metric = KeepApart::Metric::distance});
  VectorX noise(5);
  noise << 0.2, 0.2, 0.02, 0.0, 0.0;
  return {.name = "car",
          .problem = problem,
          .options = {.barrier = 1.0, .slack = 1.0},
          .restarts = {.least_regularisation = {}},
          .guess = {},
          .start_noise = noise,
          .display = display_of(car, bus, std::vector<Pose>(1)),
          .shown = [](const VectorX& x) { return shown_at(pose_at(x)); }};
}

}  // namespace tangere::experiments
