#include "tests/support/step_cases.hpp"

#include <Eigen/Geometry>
#include <filesystem>

#include "tangere/io/scene_file.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/folders.hpp"

namespace tangere::test {
namespace {

Pose turned(const Vector3& p, const Vector3& phi = Vector3::Zero()) { return {so3::exp(phi), p}; }

Vector6 twist(double vx, double vy, double vz, double wx = 0.0, double wy = 0.0, double wz = 0.0) {
  Vector6 out;
  out << vx, vy, vz, wx, wy, wz;
  return out;
}

MassProperties inertia_of(const Shape& shape, double mass) {
  MassProperties inertia = mass_properties(shape);
  inertia.inertia *= mass / inertia.mass;
  inertia.mass = mass;
  return inertia;
}

/// A chain of capsules along x about alternating axes, from a fixed base at height h.
StepCase arm(const std::string& name, int num_links, double height, const DofSpec& dof, const WorldOptions& options,
             bool mimic = false) {
  ModelBuilder builder(name);
  builder.add_body(
      {.name = "floor", .shapes = {{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = 0.6}}},
      {.name = "floor"});
  const Shape link = Capsule{.radius = 0.05, .length = 0.4};
  int parent = kWorld;
  for (int i = 0; i < num_links; ++i) {
    const std::string index = std::to_string(i);
    BodySpec body{.name = "link" + index, .inertia = inertia_of(link, 1.0 + 0.1 * i)};
    body.inertia.center = Vector3(0.2, 0.0, 0.0);
    if (i + 1 == num_links)
      body.shapes = {{.name = "tip", .shape = link, .X_BS = turned({0.2, 0.0, 0.0}), .friction = 0.5}};
    JointSpec joint{.name = "joint" + index,
                    .type = JointType::revolute,
                    .X_PJ = turned(i == 0 ? Vector3(0.0, 0.0, height) : Vector3(0.4, 0.0, 0.0), {0.1 * i, 0.0, 0.05}),
                    .axis = i % 2 == 0 ? Vector3(0.0, 1.0, 0.0) : Vector3(0.0, 0.6, 0.8),
                    .dofs = {dof}};
    if (mimic && i == 2) joint.mimic = Mimic{.source = "joint1", .multiplier = 0.7, .offset = 0.1};
    parent = builder.add_body(std::move(body), std::move(joint), parent);
  }
  World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  VectorX u = VectorX::LinSpaced(world.nv(), -0.5, 0.8);
  return {name, std::move(world), std::move(state), std::move(u)};
}

/// The arm on the floor, moved by actuators of every kind, with gears; one far beyond the range of its control, one far
/// beyond that of its force, so that no difference crosses their ends.
StepCase with_actuators(const StepCase& arm) {
  using Kind = Actuator::Kind;
  const std::vector<Actuator> actuators{
      {.name = "motor", .kind = Kind::motor, .dof = 0, .gear = 3.0, .gain = 2.0},
      {.name = "position", .kind = Kind::position, .dof = 1, .gear = 2.0, .gain = 30.0, .damping = 1.0},
      {.name = "velocity", .kind = Kind::velocity, .dof = 2, .gear = 1.5, .gain = 3.0},
      {.name = "at its control", .kind = Kind::position, .dof = 0, .gain = 20.0, .upper_control = 0.4},
      {.name = "at its force",
       .kind = Kind::velocity,
       .dof = 1,
       .gain = 50.0,
       .lower_force = -2.0,
       .upper_force = 2.0}};
  World world(arm.world.model(), actuators, arm.world.options());
  VectorX u(5);
  u << -0.1, 0.5, 0.8, 20.0, 50.0;
  return {"ArmWithActuators", std::move(world), arm.state, std::move(u)};
}

/// A position servo on every coordinate of a case that is no free joint's: stiff, at a control that is a little off.
StepCase with_servos(const std::string& name, const StepCase& one, double stiffness, double damping) {
  std::vector<Actuator> actuators;
  std::vector<double> controls;
  for (const Joint& joint : one.world.model().joints()) {
    if (joint.nv != 1) continue;
    actuators.push_back({.name = joint.spec.name,
                         .kind = Actuator::Kind::position,
                         .dof = joint.first_v,
                         .gear = joint.first_v % 2 == 0 ? 1.0 : -2.0,
                         .gain = stiffness,
                         .damping = damping});
    controls.push_back(actuators.back().gear * (one.state.q[joint.first_q] + 1e-3 * (joint.first_v % 3)));
  }
  World world(one.world.model(), actuators, one.world.options());
  return {name, std::move(world), one.state, VectorX::Map(controls.data(), static_cast<int>(controls.size()))};
}

/// Servos as strong whose forces are limited. At the old state all of them are far beyond their range; at the end of
/// the step the first is within it, the second above and the third below.
StepCase with_limited_servos(const std::string& name, const StepCase& arm) {
  using Kind = Actuator::Kind;
  const std::vector<Actuator> actuators{{.name = "within",
                                         .kind = Kind::velocity,
                                         .dof = 0,
                                         .gear = 1.5,
                                         .gain = 4e3,
                                         .lower_force = -60.0,
                                         .upper_force = 60.0},
                                        {.name = "above",
                                         .kind = Kind::position,
                                         .dof = 1,
                                         .gain = 2e4,
                                         .damping = 30.0,
                                         .lower_force = -8.0,
                                         .upper_force = 8.0},
                                        {.name = "below",
                                         .kind = Kind::affine,
                                         .dof = 2,
                                         .gear = 0.7,
                                         .gain = 5.0,
                                         .damping = 20.0,
                                         .lower_force = -6.0,
                                         .upper_force = 8.0,
                                         .bias = -40.0,
                                         .stiffness = 3e3}};
  World world(arm.world.model(), actuators, arm.world.options());
  VectorX u(3);
  u << 0.42, 30.0, 0.5;
  return {name, std::move(world), arm.state, std::move(u)};
}

/// Two free boxes and an arm, held together by a weld (a little off) and by a connected point.
StepCase held_together(const WorldOptions& options) {
  StepCase base = arm("HeldTogether", 3, 1.5, {}, options);
  ModelBuilder builder(base.world.model());
  const Shape box = Box{.size = {0.3, 0.2, 0.1}};
  for (const char* name : {"first", "second"})
    builder.add_body({.name = name, .inertia = inertia_of(box, 2.0)}, {.name = name, .type = JointType::free});
  builder.add_constraint({.name = "weld",
                          .kind = LoopConstraint::Kind::weld,
                          .body_A = builder.find_body("first"),
                          .body_B = builder.find_body("second"),
                          .X_AC = turned({0.2, 0.1, 0.0}, {0.1, 0.2, 0.3}),
                          .X_BC = turned({-0.1, 0.0, 0.1}, {0.3, -0.1, 0.2})});
  builder.add_constraint({.name = "pin",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = builder.find_body("link2"),
                          .body_B = builder.find_body("first"),
                          .X_AC = turned({0.4, 0.0, 0.0}),
                          .X_BC = turned({0.0, 0.1, 0.05})});
  World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  state.q.head<3>() << 0.3, -0.2, 0.4;
  state.q.segment<3>(3) << 1.1, 0.1, 1.4;
  state.q.segment<4>(6) = Eigen::Quaterniond(so3::exp({0.2, 0.1, -0.3})).coeffs();
  state.q.segment<3>(10) << 1.35, 0.2, 1.3;
  state.q.segment<4>(13) = Eigen::Quaterniond(so3::exp({0.1, 0.3, -0.2})).coeffs();
  Random random(3);
  for (int k = 0; k < world.nv(); ++k) state.v[k] = random.uniform(-0.3, 0.3);
  VectorX u = VectorX::LinSpaced(world.nv(), -0.5, 0.8);
  return {"HeldTogether", std::move(world), std::move(state), std::move(u)};
}

/// A link almost straight under its hinge, a millimetre inside a slippery floor, which it could leave only by a fast
/// turn.
StepCase standing_link(const WorldOptions& options) {
  ModelBuilder builder("StandingLink");
  builder.add_body(
      {.name = "floor", .shapes = {{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = 0.0}}},
      {.name = "floor"});
  const Shape capsule = Capsule{.radius = 0.05, .length = 0.4};
  builder.add_body({.name = "link",
                    .inertia = inertia_of(capsule, 1.0),
                    .shapes = {{.name = "link", .shape = capsule, .friction = 0.0}}},
                   {.name = "hinge",
                    .type = JointType::revolute,
                    .X_PJ = turned({0.0, 0.0, 0.249}, {0.0, 1.57, 0.0}),
                    .axis = Vector3::UnitY()});
  World world(builder.build(), {}, options);
  State state{VectorX::Zero(1), VectorX::Constant(1, 0.2)};
  return {"StandingLink", std::move(world), std::move(state), VectorX::Constant(1, 0.1)};
}

/// A box that tumbles, with its mass off its middle and a ballast fixed to it, askew: nothing of its inertia is
/// symmetric, and its centre is where no shape has one.
StepCase ballasted(const std::string& name, const Pose& X, const Vector6& velocity, double restitution,
                   const WorldOptions& options) {
  ModelBuilder builder(name);
  builder.add_body({.name = "floor",
                    .shapes = {{.name = "floor",
                                .shape = HalfSpace{Vector3::UnitZ(), 0.0},
                                .friction = 0.4,
                                .restitution = restitution > 0.0 ? 0.9 : 0.0}}},
                   {.name = "floor"});
  const Shape box = Box{.size = {0.4, 0.3, 0.2}};
  MassProperties inertia = inertia_of(box, 1.0);
  inertia.center = {0.05, -0.04, 0.02};
  const int body =
      builder.add_body({.name = "box",
                        .inertia = inertia,
                        .shapes = {{.name = "box", .shape = box, .friction = 0.3, .restitution = restitution}}},
                       {.name = "box", .type = JointType::free});
  MassProperties ballast = inertia_of(Box{.size = {0.1, 0.2, 0.05}}, 0.5);
  ballast.center = {0.01, 0.02, -0.01};
  builder.add_body({.name = "ballast", .inertia = ballast},
                   {.name = "bolt", .type = JointType::fixed, .X_PJ = turned({0.1, 0.05, 0.06}, {0.3, -0.2, 0.4})},
                   body);
  World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), velocity};
  state.q.head<3>() = X.p;
  state.q.tail<4>() = Eigen::Quaterniond(X.R).coeffs();
  return {name, std::move(world), std::move(state), VectorX::LinSpaced(6, -0.02, 0.03)};
}

/// A scene at its last keyframe (Nimble's benchmark states), a little off it so that nothing ties.
StepCase scene_case(const std::string& name, const std::string& file, WorldOptions options) {
  options.contact.joint_limits = false;
  const Scene scene = load_scene(scenes_folder() / file);
  World world(scene.robot.model, {}, options);
  State state{scene.robot.keyframes.back().q, VectorX::Zero(world.nv())};
  Random random(11);
  VectorX delta(world.nv());
  for (int k = 0; k < world.nv(); ++k) {
    delta[k] = random.uniform(-1e-4, 1e-4);
    state.v[k] = random.uniform(-0.05, 0.05);
  }
  integrate(world.model(), VectorX(state.q), delta, state.q);
  VectorX u = VectorX::LinSpaced(world.nu(), -0.3, 0.2);
  return {name, std::move(world), std::move(state), std::move(u)};
}

/// 0.2 high, on eight corners that nothing mirrors.
Shape irregular_prism() {
  const double angles[8] = {0.1, 0.8, 1.7, 2.3, 3.3, 3.9, 4.9, 5.6};
  MatrixX3 corners(16, 3);
  for (int i = 0; i < 8; ++i) {
    const Vector3 corner(0.25 * std::cos(angles[i]), 0.2 * std::sin(angles[i]), 0.1);
    corners.row(2 * i) = corner;
    corners.row(2 * i + 1) = corner.cwiseProduct(Vector3(1.0, 1.0, -1.0));
  }
  return Polytope::from_vertices(corners);
}

std::vector<StepCase> make_cases() {
  std::vector<StepCase> cases;
  WorldOptions fine;
  fine.time_step = 2e-3;
  const Shape box = Box{.size = {0.4, 0.3, 0.2}};
  const auto one = [&](const char* name, const Shape& shape, const Pose& X, const Vector6& V, double friction,
                       double restitution = 0.0) {
    cases.push_back(free_bodies(name, {{shape, X, V}}, friction, restitution, fine));
  };

  // one body on a floor
  one("Flying", box, turned({0.1, 0.2, 1.0}, {0.3, 0.2, 0.1}), twist(0.4, -0.3, 0.2, 3.0, -2.0, 1.0), 0.5);
  one("BoxSticking", box, turned({0.1, -0.2, 0.0992}, {0.0, 0.0, 0.3}), twist(1e-3, -2e-3, -1e-3, 0.0, 0.0, 1e-3), 0.8);
  one("BoxSliding", box, turned({0.1, -0.2, 0.0992}, {0.0, 0.0, 0.3}), twist(0.7, -0.4, -0.01), 0.3);
  one("BoxWithoutFriction", box, turned({0.1, -0.2, 0.0992}, {0.0, 0.0, 0.3}), twist(0.7, -0.4, -0.01), 0.0);
  one("BoxSpinning", box, turned({0.1, -0.2, 0.0992}, {0.0, 0.0, 0.3}), twist(0.3, -0.2, -0.01, 0.0, 0.0, 4.0), 0.3);
  one("BoxOnAnEdge", box, turned({0.0, 0.0, 0.1767}, {0.0, 0.7, 0.0}), twist(0.1, 0.2, -0.3, 0.2, -0.4, 0.3), 0.4);
  one("BoxOnACorner", box, turned({0.0, 0.0, 0.2350}, {0.5, 0.7, 0.2}), twist(0.1, 0.2, -0.3, 0.2, -0.4, 0.3), 0.4);
  one("SphereRolling", Sphere{0.2}, turned({0.0, 0.1, 0.199}, {0.3, 0.2, 0.1}), twist(0.3, 0.1, -0.05, 0.5, 0.4, 0.3),
      0.6);
  one("SphereSliding", Sphere{0.2}, turned({0.0, 0.1, 0.199}), twist(1.3, 0.7, -0.05, 0.5, 0.4, 0.3), 0.1);
  one("CapsuleSliding", Capsule{.radius = 0.1, .length = 0.5}, turned({0.0, 0.1, 0.0991}, {0.0, 0.0, 0.4}),
      twist(0.9, 0.8, -0.05, 0.1, 0.0, 0.6), 0.2);
  one("EllipsoidSliding", Ellipsoid{.semi_axes = {0.3, 0.2, 0.1}}, turned({0.0, 0.1, 0.1365}, {0.4, 0.3, 0.2}),
      twist(0.9, 0.8, -0.3, 0.1, 0.5, 0.6), 0.2);
  one("CylinderOnItsRim", Cylinder{.radius = 0.1, .length = 0.3}, turned({0.0, 0.1, 0.1767}, {0.2, 0.9, 0.2}),
      twist(0.2, 0.3, -0.4, 0.1, 0.5, 0.6), 0.5);
  one("ConeOnItsBase", Cone{.height = 0.3, .half_angle = 0.4},
      turned({0.0, 0.0, 0.0742}, {0.0, -1.5707963267948966, 0.0}), twist(0.02, 0.3, -0.4, 0.1, 0.05, 0.06), 0.9);
  fine.hard.bounce = BounceMode::discrete;
  one("BoxBouncing", box, turned({0.0, 0.0, 0.2350}, {0.5, 0.7, 0.2}), twist(0.4, 1.2, -2.3, 0.2, -0.4, 0.3), 0.4, 0.7);
  fine.hard.bounce = BounceMode::event;
  // inside the step: before the floor, and in the middle of the air with another one
  one("BoxBouncingInside", box, turned({0.0, 0.0, 0.2560}, {0.5, 0.7, 0.2}), twist(0.4, 1.2, -2.3, 0.2, -0.4, 0.3), 0.4,
      0.7);
  // with all its restitution it would gain energy
  one("BoxShortOfEnergy", box, turned({0.0, 0.0, 0.1981}, {0.4, -0.2, 0.4}), twist(0.9, 1.3, -5.6, 1.6, 4.9, -1.8), 0.9,
      0.99);
  one("SphereBouncing", Sphere{0.2}, turned({0.0, 0.1, 0.2011}, {0.1, 0.2, 0.3}), twist(0.3, 0.1, -1.5, 0.5, 0.4, 3.0),
      0.2, 0.9);
  cases.push_back(free_bodies("BallsBouncing",
                              {{Sphere{0.1}, turned({0.0, 0.0, 1.0}), twist(1.0, 0.2, 0.3, 0.5, 0.1, 0.0), 0.5},
                               {Ellipsoid{.semi_axes = {0.2, 0.15, 0.1}}, turned({0.2895, 0.02, 1.01}, {0.1, 0.2, 0.3}),
                                twist(-1.0, 0.1, 0.0, 0.3, 0.2, 0.1)}},
                              0.3, 0.8, fine));
  one("SphereBeforeTheFloor", Sphere{0.2}, turned({0.0, 0.1, 0.2011}), twist(0.3, 0.1, -1.5, 0.5, 0.4, 0.3), 0.6);
  one("SpherePressedIntoTheFloor", Sphere{0.2}, turned({0.0, 0.1, 0.25}), twist(0.3, 0.1, 0.5, 0.5, 0.4, 0.3), 0.6);
  cases.back().u[2] = -1e5;

  // a bounce, and somebody who has nothing to do with it
  cases.push_back(
      free_bodies("BouncingBesideASlidingBox",
                  {{Sphere{0.2}, turned({0.0, 0.1, 0.2011}, {0.1, 0.2, 0.3}), twist(0.3, 0.1, -1.5, 0.5, 0.4, 3.0)},
                   {box, turned({3.0, -0.2, 0.0992}, {0.0, 0.0, 0.3}), twist(0.7, -0.4, -0.01)}},
                  0.3, 0.8, fine));
  // eight points of one pair: more rows than six, which are reduced
  const Shape prism = irregular_prism();
  const Pose lying = turned({0.1, -0.2, 0.0992}, {0.0, 0.0, 0.3});
  one("PrismSticking", prism, lying, twist(1e-3, -2e-3, -1e-3, 0.0, 0.0, 1e-3), 0.8);
  one("PrismSliding", prism, lying, twist(0.7, -0.4, -0.01), 0.3);
  one("PrismSpinning", prism, lying, twist(0.3, -0.2, -0.01, 0.0, 0.0, 4.0), 0.3);
  one("PrismWithoutFriction", prism, lying, twist(0.3, -0.2, -0.01, 0.0, 0.0, 4.0), 0.0);
  // millimetres and grams, and tens of metres and tons
  cases.push_back(free_bodies("SmallBoxSliding",
                              {{Box{.size = {0.004, 0.003, 0.002}}, turned({0.001, -0.002, 0.00099}, {0.0, 0.0, 0.3}),
                                twist(0.07, -0.04, -0.001), 1e-3}},
                              0.3, 0.0, fine));
  cases.back().u.setConstant(1e-9);
  cases.push_back(free_bodies(
      "LargeBoxSliding",
      {{Box{.size = {40.0, 30.0, 20.0}}, turned({10.0, -20.0, 9.99}, {0.0, 0.0, 0.3}), twist(7.0, -4.0, -0.1), 1e4}},
      0.3, 0.0, fine));

  // what tumbles: a third of a radian a step in the air, sliding on a corner, and bouncing inside the step
  WorldOptions coarse = fine;
  coarse.time_step = 0.02;
  cases.push_back(ballasted("TumblingBallast", turned({0.1, 0.2, 3.0}, {0.3, 0.2, 0.1}),
                            twist(0.4, -0.3, 0.2, 9.0, -12.0, 5.0), 0.0, coarse));
  cases.push_back(ballasted("BallastOnACorner", turned({0.0, 0.0, 0.2350}, {0.5, 0.7, 0.2}),
                            twist(0.3, 0.4, -0.5, 4.0, -3.0, 5.0), 0.0, fine));
  cases.push_back(ballasted("BallastBouncing", turned({0.0, 0.0, 0.2560}, {0.5, 0.7, 0.2}),
                            twist(0.4, 1.2, -2.3, 6.0, -4.0, 5.0), 0.7, fine));
  coarse.integrator = Integrator::explicit_position;
  cases.push_back(ballasted("BallastByItsOldVelocity", turned({0.0, 0.0, 0.2350}, {0.5, 0.7, 0.2}),
                            twist(0.3, 0.4, -0.5, 4.0, -3.0, 5.0), 0.0, coarse));

  // bodies against each other
  // not quite parallel: which face the normal belongs to is then no tie
  cases.push_back(free_bodies(
      "Stack", {{box, turned({0.1, -0.2, 0.0993})}, {box, turned({0.15, -0.17, 0.2987}, {3e-4, 2e-4, 0.4})}}, 0.6, 0.0,
      fine));
  WorldOptions by_old_velocity = fine;
  by_old_velocity.integrator = Integrator::explicit_position;
  cases.push_back(free_bodies("SpinningStackByItsOldVelocity",
                              {{box, turned({0.1, -0.2, 0.0993}), twist(0.0, 0.0, 0.0, 0.0, 0.0, 2.0)},
                               {box, turned({0.15, -0.17, 0.2987}, {3e-4, 2e-4, 0.4})}},
                              0.6, 0.0, by_old_velocity));
  cases.push_back(free_bodies("SlidingStack",
                              {{box, turned({0.1, -0.2, 0.0993}), twist(0.5, 0.3, 0.0)},
                               {box, turned({0.15, -0.17, 0.2987}, {2e-4, 3e-4, 0.4}), twist(-0.4, 0.8, 0.0)}},
                              0.3, 0.0, fine));
  cases.push_back(free_bodies(
      "CrossedCapsules",
      {{Capsule{0.1, 0.6}, turned({0.0, 0.0, 1.0}), twist(0.1, 0.2, 0.3, 0.5, 0.1, 0.0)},
       {Capsule{0.08, 0.6}, turned({0.05, 0.02, 1.1792}, {0.1, 0.2, 1.2}), twist(0.6, 0.7, -0.8, 0.3, 0.2, 0.1)}},
      0.3, 0.0, fine));
  cases.push_back(
      free_bodies("CrossedEdges",
                  {{box, turned({0.0, 0.0, 1.0}, {0.7, 0.0, 0.0}), twist(0.1, 0.2, 0.3, 0.5, 0.1, 0.0)},
                   {box, turned({0.02, 0.01, 1.3514}, {0.1, 0.75, 0.1}), twist(0.1, 0.2, -1.0, 0.3, 0.2, 0.1)}},
                  0.5, 0.0, fine));
  cases.push_back(free_bodies("EllipsoidAgainstBall",
                              {{Ellipsoid{.semi_axes = {0.3, 0.2, 0.1}}, turned({0.0, 0.0, 1.0}, {0.4, 0.3, 0.2})},
                               {Sphere{0.1}, turned({0.06, 0.05, 1.222}), twist(0.5, 0.4, -1.0, 0.3, 0.2, 0.1)}},
                              0.2, 0.0, fine));
  WorldOptions rolling = fine;
  rolling.contact.torsional_friction = 0.02;
  rolling.hard.rolling_friction = 0.01;
  cases.push_back(free_bodies("TorsionAndRolling",
                              {{Sphere{0.2}, turned({0.0, 0.1, 0.199}), twist(0.3, 0.1, -0.05, 0.5, 0.4, 3.0)}}, 0.6,
                              0.0, rolling));

  // articulated
  StepCase touching = arm("ArmTouchingTheFloor", 3, 0.3, {}, fine);
  touching.state.q << 0.5, 0.2, 0.234;
  touching.state.v << 0.3, -0.2, 0.5;
  cases.push_back(touching);
  cases.push_back(with_actuators(touching));
  // h² kp / inertia is about 100
  cases.push_back(with_servos("ArmWithStiffServos", touching, 1e6, 300.0));
  cases.push_back(with_limited_servos("ArmWithLimitedServos", touching));

  // q' by the old velocity
  WorldOptions explicit_position = fine;
  explicit_position.integrator = Integrator::explicit_position;
  cases.push_back(
      {"ArmByItsOldVelocity", World(touching.world.model(), {}, explicit_position), touching.state, touching.u});

  cases.push_back(standing_link(fine));
  StepCase limited =
      arm("ArmAtItsLimits", 4, 2.0, {.lower = -0.5, .upper = 0.5, .damping = 0.2, .armature = 0.01}, fine);
  limited.state.q << 0.5004, 0.2, -0.5003, 0.4995;
  limited.state.v << 0.3, -0.2, -0.5, 1.5;
  cases.push_back(limited);
  StepCase dry = arm("ArmWithDryFriction", 6, 3.0, {.stiffness = 2.0, .rest = 0.1, .friction = 0.4}, fine);
  dry.state.v << 0.3, -0.2, 1e-3, 0.5, -0.4, 0.0;
  dry.u[5] = 0.0;
  cases.push_back(dry);
  StepCase mimic = arm("ArmWithAMimic", 4, 3.0, {}, fine, true);
  mimic.state.q << 0.1, 0.3, 0.33, 0.2;
  mimic.state.v << 0.3, -0.2, 0.1, 0.4;
  cases.push_back(mimic);
  StepCase off = mimic;
  off.name = "ArmWithAMimicFarOff";
  off.state.q[2] = 0.6;
  cases.push_back(off);
  cases.push_back(held_together(fine));
  cases.push_back(with_servos("HeldTogetherWithServos", held_together(fine), 1e5, 40.0));
  // some rows beyond the speed of corrections, some not
  StepCase torn = held_together(fine);
  torn.name = "TornApart";
  torn.state.q.segment<3>(10) << 1.5, 0.2, 1.23;
  cases.push_back(torn);
  cases.push_back(scene_case("JumpWorm", "jump_worm.xml", {}));
  cases.push_back(scene_case("Catapult", "catapult.xml", {}));
  cases.push_back(scene_case("HalfCheetah", "half_cheetah.xml", {.time_step = 2e-3}));
  StepCase humanoid = scene_case("Humanoid", "humanoid.xml", {});
  humanoid.state.q[2] -= 2e-4;
  cases.push_back(humanoid);
  cases.push_back(with_servos("HumanoidWithServos", humanoid, 1e4, 40.0));
  return cases;
}

}  // namespace

StepCase free_bodies(const std::string& name, const std::vector<FreeBody>& bodies, double friction, double restitution,
                     const WorldOptions& options) {
  ModelBuilder builder(name);
  builder.add_body({.name = "floor",
                    .shapes = {{.name = "floor",
                                .shape = HalfSpace{Vector3::UnitZ(), 0.0},
                                .friction = friction > 0.0 ? friction + 0.1 : 0.0,
                                .restitution = restitution > 0.0 ? 0.9 : 0.0}}},
                   {.name = "floor"});
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string body_name = "body" + std::to_string(i);
    builder.add_body({.name = body_name,
                      .inertia = inertia_of(bodies[i].shape, bodies[i].mass),
                      .shapes = {{.name = body_name,
                                  .shape = bodies[i].shape,
                                  .friction = friction > 0.0 ? friction + 0.01 * static_cast<double>(i) : 0.0,
                                  .restitution = restitution}}},
                     {.name = body_name, .type = JointType::free});
  }
  World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const Eigen::Quaterniond quaternion(bodies[i].X_WB.R);
    state.q.segment<3>(7 * k) = bodies[i].X_WB.p;
    state.q.segment<4>(7 * k + 3) = quaternion.coeffs();
    state.v.segment<6>(6 * k) = bodies[i].velocity;
  }
  VectorX u = VectorX::Constant(world.nu(), 0.01);
  return {name, std::move(world), std::move(state), std::move(u)};
}

const std::vector<StepCase>& all_step_cases() {
  static const std::vector<StepCase> cases = make_cases();
  return cases;
}

}  // namespace tangere::test
