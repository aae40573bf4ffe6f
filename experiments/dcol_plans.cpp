/// DCOL's three trajectories: the piano mover, the quadrotor in a hallway, the cone through an opening. Dynamics by the
/// classical Runge-Kutta method with controls held, attitudes as modified Rodrigues parameters p = e tan(φ / 4),
/// quadratic costs and a goal as the paper's scripts have them; from the paper's naive starts, controls of noise; the
/// quadrotor and the cone with the reference, a straight line through everything, as states.
///
///   R = I + (8 [p]² + 4 (1 - p²) [p]) / (1 + p²)²,   ṗ = ¼ B ω,   B = (1 - p²) I + 2 [p] + 2 p pᵀ,   B⁻¹ = Bᵀ / (1 +
///   p²)²

#include <array>
#include <cmath>

#include "experiments/optimize_task.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/trajopt/function_dynamics.hpp"

namespace tangere::experiments {
namespace {

using Vector12x = Eigen::Matrix<double, 12, 1>;

Matrix3 rotation_of(const Vector3& p) {
  const Matrix3 P = so3::hat(p);
  const double square = p.squaredNorm();
  return Matrix3::Identity() + (8.0 * P * P + 4.0 * (1.0 - square) * P) / ((1.0 + square) * (1.0 + square));
}

Matrix3 rate_map(const Vector3& p) {
  return (1.0 - p.squaredNorm()) * Matrix3::Identity() + 2.0 * so3::hat(p) + 2.0 * p * p.transpose();
}

/// d φ / d p with R exp(φ).
Matrix3 turn_of(const Vector3& p) {
  const double sum = 1.0 + p.squaredNorm();
  return 4.0 / (sum * sum) * rate_map(p).transpose();
}

/// A rigid body: x = (r, v, p, ω), v in world axes, ω in the body's. Forces and torques come as f_W, t_B with their
/// derivatives in the controls; those in the attitude are of a force that turns with the body (f_W = R f_B).
struct Forces {
  Vector3 world = Vector3::Zero();
  Vector3 body = Vector3::Zero();
  Vector3 torque = Vector3::Zero();
  Eigen::Matrix<double, 3, Eigen::Dynamic> world_u;
  Eigen::Matrix<double, 3, Eigen::Dynamic> body_u;
  Eigen::Matrix<double, 3, Eigen::Dynamic> torque_u;
};

void rigid_body_rate(const VectorX& x, double mass, const Vector3& inertia, const Forces& f, VectorX& out,
                     FunctionJacobians* J) {
  const Vector3 p = x.segment<3>(6);
  const Vector3 omega = x.segment<3>(9);
  const Matrix3 R = rotation_of(p);
  const Vector3 momentum = inertia.cwiseProduct(omega);
  const Vector3 inverse = inertia.cwiseInverse();
  out.segment<3>(0) = x.segment<3>(3);
  out.segment<3>(3) = (f.world + R * f.body) / mass;
  out.segment<3>(6) = 0.25 * rate_map(p) * omega;
  out.segment<3>(9) = inverse.cwiseProduct(f.torque - omega.cross(momentum));
  if (J == nullptr) return;
  J->x.block<3, 3>(0, 3).setIdentity();
  J->x.block<3, 3>(3, 6) = -R * so3::hat(f.body) * turn_of(p) / mass;
  J->x.block<3, 3>(6, 6) =
      0.5 * (p.dot(omega) * Matrix3::Identity() + p * omega.transpose() - omega * p.transpose() - so3::hat(omega));
  J->x.block<3, 3>(6, 9) = 0.25 * rate_map(p);
  J->x.block<3, 3>(9, 9) =
      inverse.asDiagonal() * (so3::hat(momentum) - so3::hat(omega) * Matrix3(inertia.asDiagonal()));
  J->u.middleRows<3>(3) = (f.world_u + R * f.body_u) / mass;
  J->u.middleRows<3>(9) = inverse.asDiagonal() * f.torque_u;
}

Pose pose_at(const VectorX& x) { return {rotation_of(x.segment<3>(6)), x.head<3>()}; }

void place_body(const Knot& knot, Pose& X, Eigen::Ref<MatrixX>* J) {
  X = pose_at(knot.x);
  if (J == nullptr) return;
  J->block<3, 3>(0, 0).setIdentity();
  J->block<3, 3>(3, 6) = turn_of(knot.x.segment<3>(6));
}

struct Obstacle {
  const char* name;
  Shape shape;
  Pose pose;
};

struct Obstacles {
  std::vector<Collider> colliders;
  std::vector<Pose> poses;

  explicit Obstacles(const std::vector<Obstacle>& list) {
    for (const Obstacle& obstacle : list) {
      colliders.push_back(fixed(obstacle.name, obstacle.shape, obstacle.pose));
      poses.push_back(obstacle.pose);
    }
  }
};

MatrixX noisy(const VectorX& u, int steps, double noise, std::uint64_t seed) {
  Random random(seed);
  MatrixX out = u.replicate(1, steps);
  for (double& entry : out.reshaped()) entry += noise * random.normal();
  return out;
}

MatrixX line(const VectorX& start, const VectorX& goal, int steps) {
  MatrixX out(start.size(), steps + 1);
  for (int k = 0; k <= steps; ++k) out.col(k) = start + static_cast<double>(k) / steps * (goal - start);
  return out;
}

Polytope polytope(const MatrixX3& normals, const VectorX& distances) { return {normals, distances}; }

Polytope eight_faces() {
  MatrixX3 A(8, 3);
  A.topRows<4>() << 0.0, 0.0, 1.0, 0.0, 0.942809, -1.0 / 3.0, 0.816497, -0.471405, -1.0 / 3.0, -0.816497, -0.471405,
      -1.0 / 3.0;
  A.bottomRows<4>() = -A.topRows<4>();
  VectorX b(8);
  b << VectorX::Constant(4, 0.866025), VectorX::Constant(4, 1.443376);
  return polytope(A, b);
}

PaddedPolygon regular_polygon(int sides, double apothem, double pad) {
  PaddedPolygon out{MatrixX2(sides, 2), VectorX::Constant(sides, apothem), pad};
  for (int i = 0; i < sides; ++i) {
    const double angle = 2.0 * 3.14159265358979323846 * i / sides;
    out.C.row(i) << std::cos(angle), std::sin(angle);
  }
  return out;
}

// piano

/// x = (x, y, vx, vy, θ, ω), u = (ax, ay, τ), ω̇ = τ / 100.
void piano_rate(const VectorX& x, const VectorX& u, double /*h*/, VectorX& out, FunctionJacobians* J) {
  out << x[2], x[3], u[0], u[1], x[5], u[2] / 100.0;
  if (J == nullptr) return;
  J->x(0, 2) = J->x(1, 3) = J->x(4, 5) = 1.0;
  J->u(2, 0) = J->u(3, 1) = 1.0;
  J->u(5, 2) = 0.01;
}

Pose piano_pose(const VectorX& x) { return {Eigen::AngleAxisd(x[4], Vector3::UnitZ()).matrix(), {x[0], x[1], 0.0}}; }

OptimizeTask piano_of(const char* name, double length) {
  constexpr int kSteps = 79;
  VectorX start(6), goal(6), weight(3);
  start << 1.5, 1.5, 0.0, 0.0, 0.0, 0.0;
  goal << 3.5, 3.7, 0.0, 0.0, 0.5 * 3.14159265358979323846, 0.0;
  weight << 1.0, 1.0, 0.001;
  OptimalControl problem(std::make_shared<FunctionDynamics>(6, 3, runge_kutta(6, 3, piano_rate)),
                         {start, constant_steps(kSteps, 0.1)});
  problem.add(StateCost{.target = goal, .weight = all_of(1.0)});
  problem.add(ControlCost{.weight = weight});
  problem.add(ControlBounds{.lower = all_of(-200.0), .upper = all_of(200.0)});
  problem.add(Reach{.name = "goal", .target = goal});
  // as high as the walls: in the plane the height has no part, and distances are those of the plane
  const Collider piano{"piano", Box{{length, 0.15, 1.0}}, [](const Knot& knot, Pose& X, Eigen::Ref<MatrixX>* J) {
                         X = piano_pose(knot.x);
                         if (J == nullptr) return;
                         (*J)(0, 0) = (*J)(1, 1) = (*J)(5, 4) = 1.0;
                       }};
  const Obstacles walls({{"wall_1", Box{{3.0, 3.0, 1.0}}, Pose::translation({1.5, 3.5, 0.0})},
                         {"wall_2", Box{{4.0, 1.0, 1.0}}, Pose::translation({2.0, 0.5, 0.0})},
                         {"wall_3", Box{{1.0, 5.0, 1.1}}, Pose::translation({4.5, 2.5, 0.0})}});
  add(problem, KeepApart{.name = "walls", .movers = {piano}, .obstacles = walls.colliders});
  VectorX noise(6);
  noise << 0.05, 0.05, 0.0, 0.0, 0.02, 0.0;
  return {.name = name,
          .problem = problem,
          .options = {.barrier = 1.0, .slack = 1.0},
          .restarts = {.least_regularisation = {}},
          .guess = {.u = noisy(VectorX::Zero(3), kSteps, 0.01, 2)},
          .start_noise = noise,
          .control_noise = 5e-5,
          .display = display_of(piano, walls.colliders, walls.poses),
          .shown = [](const VectorX& x) { return shown_at(piano_pose(x)); }};
}

// quadrotor

void quadrotor_rate(const VectorX& x, const VectorX& u, double /*h*/, VectorX& out, FunctionJacobians* J) {
  constexpr double kMass = 0.5, kArm = 0.175, kForce = 1.0, kDrag = 0.0245, kGravity = 9.81;
  Forces f;
  f.world_u.setZero(3, 4);
  f.body_u.setZero(3, 4);
  f.torque_u.setZero(3, 4);
  std::array<double, 4> thrust{};
  for (int i = 0; i < 4; ++i) {
    thrust[i] = std::max(0.0, kForce * u[i]);
    if (u[i] > 0.0) f.body_u(2, i) = kForce;
  }
  f.world = {0.0, 0.0, -kMass * kGravity};
  f.body = {0.0, 0.0, thrust[0] + thrust[1] + thrust[2] + thrust[3]};
  f.torque = {kArm * (thrust[1] - thrust[3]), kArm * (thrust[2] - thrust[0]), kDrag * (u[0] - u[1] + u[2] - u[3])};
  f.torque_u(0, 1) = kArm * f.body_u(2, 1);
  f.torque_u(0, 3) = -kArm * f.body_u(2, 3);
  f.torque_u(1, 2) = kArm * f.body_u(2, 2);
  f.torque_u(1, 0) = -kArm * f.body_u(2, 0);
  f.torque_u.row(2) << kDrag, -kDrag, kDrag, -kDrag;
  rigid_body_rate(x, kMass, {0.0023, 0.0023, 0.004}, f, out, J);
}

/// Ten shapes on the way with places and attitudes at random, a floor and a ceiling.
std::vector<Obstacle> hallway() {
  const std::vector<std::pair<const char*, Shape>> shapes = {{"cylinder", Cylinder{0.6, 3.0}},
                                                             {"capsule", Capsule{0.2, 5.0}},
                                                             {"sphere", Sphere{0.8}},
                                                             {"cone", Cone{2.0, 22.0 * 3.14159265358979323846 / 180.0}},
                                                             {"polytope", eight_faces()},
                                                             {"polygon", regular_polygon(5, 0.6, 0.2)},
                                                             {"drum", Cylinder{1.1, 2.3}},
                                                             {"pill", Capsule{0.8, 1.0}},
                                                             {"ball", Sphere{0.5}},
                                                             {"octagon", regular_polygon(8, 0.8, 0.15)}};
  Random random(1234);
  std::vector<Obstacle> out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double x = -5.625 + 1.25 * static_cast<double>(i);
    const double y = random.normal();
    const double z = 3.0 + random.normal();
    out.push_back({shapes[i].first, shapes[i].second, Pose{random.rotation(), {x, y, z}}});
  }
  out.push_back({"floor", Box{{20.0, 5.0, 0.2}}, Pose::translation({0.0, 0.0, 0.9})});
  out.push_back({"ceiling", Box{{20.0, 5.0, 0.2}}, Pose::translation({0.0, 0.0, 6.0})});
  return out;
}

// cone

constexpr double kConeHeight = 2.0;
constexpr double kConeAngle = 22.0 * 3.14159265358979323846 / 180.0;

/// Force in world axes and torque in the body's.
void cone_rate(const VectorX& x, const VectorX& u, double /*h*/, VectorX& out, FunctionJacobians* J) {
  constexpr double kMass = 1.36753269;
  const double radius = kConeHeight * std::tan(kConeAngle);
  const double across = kMass * (3.0 * radius * radius / 20.0 + 3.0 * kConeHeight * kConeHeight / 80.0);
  Forces f;
  f.world = u.head<3>();
  f.torque = u.tail<3>();
  f.world_u.setZero(3, 6);
  f.body_u.setZero(3, 6);
  f.torque_u.setZero(3, 6);
  f.world_u.leftCols<3>().setIdentity();
  f.torque_u.rightCols<3>().setIdentity();
  rigid_body_rate(x, kMass, {0.3 * kMass * radius * radius, across, across}, f, out, J);
}

VectorX at_rest(double x, double y, double z) {
  VectorX out = VectorX::Zero(12);
  out.head<3>() << x, y, z;
  return out;
}

}  // namespace

OptimizeTask dcol_piano() { return piano_of("piano", 2.5); }

/// The longest that fits, to 3 mm: two corridors of width 1 let a bar of thickness 0.15 pass up to 2 √2 - 2 · 0.15.
OptimizeTask dcol_piano_long() { return piano_of("piano_long", 2.525); }

OptimizeTask dcol_quadrotor() {
  constexpr int kSteps = 99;
  constexpr double kHover = 1.22625;
  const VectorX start = at_rest(-8.0, 0.0, 4.0);
  const VectorX goal = at_rest(8.0, 0.0, 4.0);
  const VectorX hover = VectorX::Constant(4, kHover);
  OptimalControl problem(std::make_shared<FunctionDynamics>(12, 4, runge_kutta(12, 4, quadrotor_rate)),
                         {start, constant_steps(kSteps, 0.08)});
  problem.add(StateCost{.path = line(start, goal, kSteps), .weight = all_of(1.0)});
  problem.add(ControlCost{.target = hover, .weight = all_of(1.0)});
  problem.add(ControlBounds{.lower = all_of(-2000.0), .upper = all_of(2000.0)});
  problem.add(Reach{.name = "goal", .target = goal});
  const Collider drone{"drone", Sphere{0.25}, place_body};
  const Obstacles obstacles(hallway());
  add(problem, KeepApart{.name = "hallway", .movers = {drone}, .obstacles = obstacles.colliders});
  VectorX noise = VectorX::Zero(12);
  noise.head<3>().setConstant(0.05);
  noise.segment<3>(6).setConstant(0.01);
  return {.name = "quadrotor",
          .problem = problem,
          .options = {.barrier = 1.0, .slack = 1.0, .penalty = 1e3, .progress = 1e-4},
          .restarts = {.noise = 1e-4, .state_noise = 0.5, .least_regularisation = {}},
          .guess = {.x = line(start, goal, kSteps), .u = noisy(hover, kSteps, 1e-4, 1)},
          .start_noise = noise,
          .control_noise = 5e-8,
          .display = display_of(drone, obstacles.colliders, obstacles.poses),
          .shown = [](const VectorX& x) { return shown_at(pose_at(x)); }};
}

OptimizeTask dcol_cone() {
  constexpr int kSteps = 59;
  const VectorX start = at_rest(-4.0, -7.0, 9.0);
  const VectorX goal = at_rest(-4.5, 7.0, 3.0);
  VectorX weight(6);
  weight << 1.0, 1.0, 1.0, 100.0, 100.0, 100.0;
  OptimalControl problem(std::make_shared<FunctionDynamics>(12, 6, runge_kutta(12, 6, cone_rate)),
                         {start, constant_steps(kSteps, 0.1)});
  problem.add(StateCost{.path = line(start, goal, kSteps), .weight = all_of(1.0)});
  problem.add(ControlCost{.weight = weight});
  problem.add(ControlBounds{.lower = all_of(-20.0), .upper = all_of(20.0)});
  problem.add(Reach{.name = "goal", .target = goal});
  const Collider cone{"cone", Cone{kConeHeight, kConeAngle}, place_body};
  const auto turned = [](double x, double y, double z) {
    return Pose{Eigen::AngleAxisd(0.5 * 3.14159265358979323846, Vector3::UnitX()).matrix(), {x, y, z}};
  };
  const Obstacles wall({{"left", Box{{10.0, 10.0, 1.0}}, turned(-6.0, 0.0, 5.0)},
                        {"right", Box{{10.0, 10.0, 1.0}}, turned(6.0, 0.0, 5.0)},
                        {"sill", Box{{4.1, 4.1, 1.1}}, turned(0.0, 0.0, 2.05)},
                        {"lintel", Box{{4.1, 4.1, 1.1}}, turned(0.0, 0.0, 7.96)}});
  add(problem, KeepApart{.name = "wall", .movers = {cone}, .obstacles = wall.colliders});
  VectorX noise = VectorX::Zero(12);
  noise.head<3>().setConstant(0.1);
  noise.segment<3>(6).setConstant(0.02);
  return {.name = "cone",
          .problem = problem,
          .options = {.barrier = 1.0, .slack = 1.0, .penalty = 1e4, .progress = 1e-4},
          .restarts = {.count = 10, .state_noise = 0.5, .least_regularisation = {}},
          .guess = {.x = line(start, goal, kSteps), .u = noisy(VectorX::Zero(6), kSteps, 0.01, 2)},
          .start_noise = noise,
          .control_noise = 5e-4,
          .display = display_of(cone, wall.colliders, wall.poses),
          .shown = [](const VectorX& x) { return shown_at(pose_at(x)); }};
}

}  // namespace tangere::experiments
