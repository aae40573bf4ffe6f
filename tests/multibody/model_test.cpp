/// The builder: what it makes, and what it refuses.

#include "tangere/multibody/model.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/all_models.hpp"

namespace tangere::test {
namespace {

BodySpec ball(const std::string& name) { return {.name = name, .inertia = mass_properties(Sphere{0.1})}; }
JointSpec hinge(const std::string& name) { return {.name = name, .type = JointType::revolute}; }

TEST(Model, CountsAndNames) {
  for (const JointType type : all_joint_types()) {
    ModelBuilder builder("one");
    builder.add_body(ball("body"), {.name = "joint", .type = type});
    const Model model = builder.build();
    EXPECT_EQ(model.nv(), num_velocities(type)) << to_string(type);
    EXPECT_EQ(model.nq(), num_positions(type)) << to_string(type);
    EXPECT_EQ(neutral_configuration(model).size(), model.nq());
    EXPECT_EQ(static_cast<int>(model.dofs().size()), model.nv());
    if (model.nv() == 0) continue;
    EXPECT_EQ(model.dof_name(model.nv() - 1),
              model.nv() == 1 ? "joint" : "joint[" + std::to_string(model.nv() - 1) + "]");
  }
}

TEST(Model, FindsByName) {
  const Model& model = all_models().back().model;
  EXPECT_EQ(model.body(model.body_index("shin2")).spec.name, "shin2");
  EXPECT_EQ(model.joint(model.joint_index("hip0")).spec.name, "hip0");
  try {
    (void)model.body_index("shiin2");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.reason().find("did you mean 'shin2'"), std::string::npos) << error.reason();
  }
}

TEST(Model, ParentAndChildDoNotCollide) {
  ModelBuilder builder("three");
  builder.add_body(ball("a"), hinge("a"));
  builder.add_body(ball("b"), hinge("b"), "a");
  builder.add_body(ball("c"), hinge("c"), "b");
  builder.exclude_pair(2, 0);
  builder.exclude_pair(1, 0);
  const Model model = builder.build();
  const std::vector<std::pair<int, int>> expected{{0, 1}, {0, 2}, {1, 2}};
  EXPECT_EQ(std::vector(model.excluded_pairs().begin(), model.excluded_pairs().end()), expected);
}

TEST(Model, BodiesHeldTogetherDoNotCollide) {
  ModelBuilder builder("held");
  builder.add_body(ball("base"), hinge("base"));
  builder.add_body(ball("bracket"), {.name = "bolt", .type = JointType::fixed}, "base");
  builder.add_body(ball("camera"), {.name = "screw", .type = JointType::fixed}, "bracket");
  // only bodies with shapes can touch
  BodySpec drone = ball("drone");
  drone.shapes = {{.shape = Sphere{0.1}}};
  BodySpec cargo = ball("cargo");
  cargo.shapes = drone.shapes;
  builder.add_body(drone, {.name = "air", .type = JointType::free}, "base");
  builder.add_body(ball("arm"), hinge("arm"), "bracket");
  builder.add_body(ball("post"), {.name = "ground", .type = JointType::fixed});
  builder.add_body(ball("hook"), hinge("hook"), "arm");
  builder.add_body(cargo, {.name = "knot", .type = JointType::fixed}, "hook");
  builder.add_constraint({.name = "loop",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = builder.find_body("drone"),
                          .body_B = builder.find_body("hook")});
  const Model model = builder.build();
  const auto may_collide = [&](const char* A, const char* B) {
    const bool answer = model.may_collide(model.body_index(A), model.body_index(B));
    EXPECT_EQ(model.may_collide(model.body_index(B), model.body_index(A)), answer);
    return answer;
  };
  EXPECT_FALSE(may_collide("drone", "hook"));
  EXPECT_FALSE(may_collide("drone", "cargo"));
  EXPECT_FALSE(may_collide("base", "camera"));
  EXPECT_FALSE(may_collide("bracket", "arm"));
  EXPECT_TRUE(may_collide("camera", "arm"));
  EXPECT_TRUE(may_collide("base", "drone"));
  EXPECT_TRUE(may_collide("drone", "arm"));
  EXPECT_FALSE(model.may_collide(kWorld, model.body_index("post")));
  EXPECT_TRUE(model.may_collide(kWorld, model.body_index("drone")));
}

TEST(Model, CopiesThroughABuilder) {
  for (const NamedModel& named : all_models()) {
    const Model copy = ModelBuilder(named.model).build();
    EXPECT_EQ(copy.nq(), named.model.nq());
    EXPECT_EQ(copy.num_bodies(), named.model.num_bodies());
    EXPECT_EQ(copy.gravity(), named.model.gravity());
  }
}

TEST(Mimic, FollowsChains) {
  ModelBuilder builder("hand");
  builder.add_body(ball("a"), hinge("a"));
  JointSpec b = hinge("b");
  b.mimic = Mimic{.source = "c", .multiplier = 2.0, .offset = 0.5};
  builder.add_body(ball("b"), b, "a");
  JointSpec c = hinge("c");
  c.mimic = Mimic{.source = "a", .multiplier = -1.0, .offset = 0.1};
  builder.add_body(ball("c"), c, "b");
  const Model model = builder.build();
  VectorX q = VectorX::Constant(3, 9.0);
  q[0] = 0.4;
  follow_mimics(model, q);
  EXPECT_DOUBLE_EQ(q[2], -0.3);
  EXPECT_NEAR(q[1], -0.1, 1e-15);

  Random random(1);
  const VectorX anywhere = random_configuration(model, random);
  EXPECT_DOUBLE_EQ(anywhere[2], 0.1 - anywhere[0]);
  EXPECT_DOUBLE_EQ(anywhere[1], 0.5 + 2.0 * anywhere[2]);
}

/// Each refused with the field named, and the builder is as before.
TEST(ModelBuilder, RefusesWhatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Bad {
    const char* field;
    std::function<void(BodySpec&, JointSpec&)> spoil;
  };
  const Bad cases[] = {
      {"arm.mass", [](BodySpec& body, JointSpec&) { body.inertia.mass = -1.0; }},
      {"arm.mass", [=](BodySpec& body, JointSpec&) { body.inertia.mass = nan; }},
      {"arm.center", [=](BodySpec& body, JointSpec&) { body.inertia.center[1] = nan; }},
      {"arm.inertia", [](BodySpec& body, JointSpec&) { body.inertia.inertia(0, 1) += 1.0; }},
      {"arm.inertia", [](BodySpec& body, JointSpec&) { body.inertia.inertia = Vector3(-1, 1, 1).asDiagonal(); }},
      {"arm.inertia", [](BodySpec& body, JointSpec&) { body.inertia.inertia = Vector3(1, 1, 2.1).asDiagonal(); }},
      {"hand", [](BodySpec& body, JointSpec&) { body.name = "hand"; }},
      {"hand", [](BodySpec&, JointSpec& joint) { joint.name = "hand"; }},
      {"body.name", [](BodySpec& body, JointSpec&) { body.name = ""; }},
      {"elbow.axis", [](BodySpec&, JointSpec& joint) { joint.axis.setZero(); }},
      {"elbow.axis", [=](BodySpec&, JointSpec& joint) { joint.axis[0] = nan; }},
      {"elbow.axis2",
       [](BodySpec&, JointSpec& joint) {
         joint.type = JointType::universal;
         joint.axis2 = -joint.axis;
       }},
      {"elbow.X_PJ.R", [](BodySpec&, JointSpec& joint) { joint.X_PJ.R(0, 0) = 2.0; }},
      {"elbow.limits", [](BodySpec&, JointSpec& joint) { joint.dofs = {DofSpec{.lower = 1.0, .upper = 0.0}}; }},
      {"elbow.damping", [](BodySpec&, JointSpec& joint) { joint.dofs = {DofSpec{.damping = -1.0}}; }},
      {"elbow.effort", [=](BodySpec&, JointSpec& joint) { joint.dofs = {DofSpec{.effort = nan}}; }},
      {"elbow.dofs", [](BodySpec&, JointSpec& joint) { joint.dofs.resize(3); }},
      {"elbow.limits",
       [](BodySpec&, JointSpec& joint) {
         joint.type = JointType::ball;
         joint.dofs = {DofSpec{.lower = -1.0}};
       }},
      {"elbow.stiffness",
       [](BodySpec&, JointSpec& joint) {
         joint.type = JointType::free;
         joint.dofs = {DofSpec{.stiffness = 1.0}};
       }},
      {"elbow.mimic",
       [](BodySpec&, JointSpec& joint) {
         joint.type = JointType::ball;
         joint.mimic = Mimic{.source = "hand"};
       }},
      {"arm.pad.friction",
       [](BodySpec& body, JointSpec&) {
         body.shapes.push_back({.name = "pad", .shape = Sphere{0.1}, .friction = -0.5});
       }},
      {"arm.sphere.restitution",
       [](BodySpec& body, JointSpec&) { body.shapes.push_back({.shape = Sphere{0.1}, .restitution = 1.5}); }},
      {"arm.visual.color",
       [](BodySpec& body, JointSpec&) {
         body.visuals.push_back({.geometry = Shape(Sphere{0.1}), .color = Vector4(0.0, 2.0, 0.0, 1.0)});
       }},
  };
  for (const Bad& bad : cases) {
    ModelBuilder builder("robot");
    builder.add_body(ball("hand"), hinge("hand"));
    BodySpec body = ball("arm");
    JointSpec joint = hinge("elbow");
    bad.spoil(body, joint);
    try {
      builder.add_body(body, joint, "hand");
      FAIL() << "took a wrong " << bad.field;
    } catch (const InputError& error) {
      EXPECT_EQ(error.field(), bad.field) << error.what();
    }
    EXPECT_EQ(builder.num_bodies(), 1);
    EXPECT_EQ(builder.build().nv(), 1);
  }
}

TEST(ModelBuilder, RefusesWrongParentsAndMimics) {
  ModelBuilder builder("robot");
  builder.add_body(ball("hand"), hinge("hand"));
  EXPECT_THROW(builder.add_body(ball("a"), hinge("a"), "nobody"), InputError);
  EXPECT_THROW(builder.add_body(ball("a"), hinge("a"), 7), InputError);
  EXPECT_THROW(builder.exclude_pair(0, 5), InputError);
  EXPECT_THROW(builder.exclude_pair(0, 0), InputError);
  JointSpec follower = hinge("follower");
  follower.mimic = Mimic{.source = "nobody"};
  builder.add_body(ball("follower"), follower);
  EXPECT_THROW((void)builder.build(), InputError);
  follower.mimic = Mimic{.source = "follower"};
  builder.set_joint(1, follower);
  EXPECT_THROW((void)builder.build(), InputError);
  EXPECT_THROW(builder.set_joint(1, {.name = "follower", .type = JointType::ball}), InputError);
  EXPECT_THROW(builder.set_body(1, ball("other")), InputError);
}

TEST(ModelBuilder, RefusesJointsThatMoveNothing) {
  ModelBuilder builder("robot");
  builder.add_body({.name = "ghost"}, hinge("ghost"));
  try {
    (void)builder.build();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), "ghost");
  }
  // something behind it, or a motor's inertia, will do
  builder.add_body(ball("ball"), {.name = "ball", .type = JointType::revolute, .axis = Vector3::UnitX()}, "ghost");
  EXPECT_EQ(builder.build().nv(), 2);
  ModelBuilder motor("motor");
  motor.add_body({.name = "rotor"}, {.name = "rotor", .type = JointType::revolute, .dofs = {DofSpec{.armature = 0.1}}});
  EXPECT_EQ(motor.build().nv(), 1);
}

BodySpec point_mass(const std::string& name, const Vector3& at) {
  return {.name = name, .inertia = {.mass = 1.0, .center = at, .inertia = Matrix3::Zero()}};
}

/// Each has mass behind every joint, and yet a mass matrix that is singular everywhere.
TEST(ModelBuilder, RefusesSingularModels) {
  const auto expect_refused = [](const char* what, const std::function<void(ModelBuilder&)>& fill) {
    ModelBuilder builder("singular");
    fill(builder);
    EXPECT_THROW((void)builder.build(), InputError) << what;
  };
  expect_refused("a point on the axis", [](ModelBuilder& b) { b.add_body(point_mass("p", {0, 0, 1}), hinge("j")); });
  expect_refused("a free point", [](ModelBuilder& b) {
    b.add_body(point_mass("p", {0.1, 0.2, 0.3}), {.name = "j", .type = JointType::free});
  });
  expect_refused("a ball joint about a rod", [](ModelBuilder& b) {
    const Matrix3 rod = Vector3(1.0, 1.0, 0.0).asDiagonal();
    b.add_body({.name = "rod", .inertia = {.mass = 1.0, .center = Vector3::Zero(), .inertia = rod}},
               {.name = "j", .type = JointType::ball});
  });
  for (const JointType type : {JointType::revolute, JointType::prismatic}) {
    expect_refused("twice the same motion", [&](ModelBuilder& b) {
      b.add_body({.name = "ghost"}, {.name = "first", .type = type});
      b.add_body(ball("ball"), {.name = "second", .type = type}, "ghost");
    });
  }
}

TEST(ModelBuilder, AcceptsWhatIsOnlyNearlySingular) {
  ModelBuilder screw("screw");
  screw.add_body(point_mass("p", {0, 0, 1}), {.name = "j", .type = JointType::screw, .pitch = 0.1});
  EXPECT_EQ(screw.build().nv(), 1);
  ModelBuilder pendulum("pendulum");
  pendulum.add_body(point_mass("p", {1e-3, 0, 1}), hinge("j"));
  EXPECT_EQ(pendulum.build().nv(), 1);
}

TEST(ModelBuilder, RefusesMoreCoordinatesThanMatricesHold) {
  ModelBuilder builder("swarm");
  for (int i = 0; i <= kMostCoordinates / 6; ++i)
    builder.add_body(ball("b" + std::to_string(i)), {.name = "j" + std::to_string(i), .type = JointType::free});
  EXPECT_THROW((void)builder.build(), InputError);
}

TEST(Model, HasNoBodiesBeyondItsOwn) {
  const Model& model = all_models().back().model;
  for (const int index : {-1, model.num_bodies(), 99, -1000000}) {
    try {
      (void)model.body(index);
      ADD_FAILURE() << "body " << index;
    } catch (const InputError& error) {
      EXPECT_EQ(error.field(), "body");
      EXPECT_NE(error.reason().find("must be between 0 and " + std::to_string(model.num_bodies() - 1)),
                std::string::npos)
          << error.what();
    }
    EXPECT_THROW((void)model.joint(index), InputError);
  }
}

}  // namespace
}  // namespace tangere::test
