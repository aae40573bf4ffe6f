#include "tangere/io/robot/mjcf_writer.hpp"

#include <gtest/gtest.h>

#include "tangere/geometry/support.hpp"
#include "tangere/io/robot/mjcf_reader.hpp"
#include "tangere/io/robot/urdf_reader.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/robot_files.hpp"

namespace tangere {
namespace {

constexpr double kTolerance = 1e-12;

void expect_same(const Pose& a, const Pose& b, const std::string& what) {
  SCOPED_TRACE(what);
  EXPECT_NEAR_ABSOLUTE(a.R, b.R, kTolerance);
  EXPECT_NEAR_ABSOLUTE(a.p, b.p, kTolerance);
}

void expect_same(const Shape& a, const Shape& b) {
  EXPECT_EQ(a.type_name(), b.type_name());
  if (a.is_half_space()) return;
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    const Vector3 n = random.unit_vector();
    EXPECT_NEAR(support(a, n).dot(n), support(b, n).dot(n), kTolerance);
  }
}

void expect_same(const BodySpec& a, const BodySpec& b) {
  SCOPED_TRACE(a.name);
  EXPECT_EQ(a.name, b.name);
  EXPECT_NEAR(a.inertia.mass, b.inertia.mass, kTolerance);
  EXPECT_NEAR_ABSOLUTE(a.inertia.center, b.inertia.center, kTolerance);
  EXPECT_NEAR_ABSOLUTE(a.inertia.inertia, b.inertia.inertia, kTolerance);
  ASSERT_EQ(a.shapes.size(), b.shapes.size());
  for (std::size_t i = 0; i < a.shapes.size(); ++i) {
    EXPECT_EQ(a.shapes[i].name, b.shapes[i].name);
    expect_same(a.shapes[i].shape, b.shapes[i].shape);
    expect_same(a.shapes[i].X_BS, b.shapes[i].X_BS, "X_BS");
    EXPECT_EQ(a.shapes[i].friction, b.shapes[i].friction);
    EXPECT_EQ(a.shapes[i].group, b.shapes[i].group);
    EXPECT_EQ(a.shapes[i].mask, b.shapes[i].mask);
  }
  ASSERT_EQ(a.visuals.size(), b.visuals.size());
  for (std::size_t i = 0; i < a.visuals.size(); ++i) {
    EXPECT_EQ(a.visuals[i].geometry.index(), b.visuals[i].geometry.index());
    expect_same(a.visuals[i].X_BV, b.visuals[i].X_BV, "X_BV");
    EXPECT_EQ(a.visuals[i].color, b.visuals[i].color);
  }
}

void expect_same(const DofSpec& a, const DofSpec& b) {
  for (const auto member : {&DofSpec::lower, &DofSpec::upper, &DofSpec::effort, &DofSpec::damping, &DofSpec::stiffness,
                            &DofSpec::rest, &DofSpec::armature, &DofSpec::friction})
    EXPECT_EQ(a.*member, b.*member);
}

void expect_same(const Robot& a, const Robot& b) {
  EXPECT_EQ(a.model.name(), b.model.name());
  EXPECT_EQ(a.model.gravity(), b.model.gravity());
  ASSERT_EQ(a.model.num_bodies(), b.model.num_bodies());
  ASSERT_EQ(a.model.nv(), b.model.nv());
  for (int i = 0; i < a.model.num_bodies(); ++i) {
    expect_same(a.model.body(i).spec, b.model.body(i).spec);
    EXPECT_EQ(a.model.body(i).parent, b.model.body(i).parent);
    const JointSpec& j = a.model.joint(i).spec;
    const JointSpec& k = b.model.joint(i).spec;
    EXPECT_EQ(j.name, k.name);
    EXPECT_EQ(j.type, k.type);
    expect_same(j.X_PJ, k.X_PJ, j.name + ".X_PJ");
    expect_same(j.X_CJ, k.X_CJ, j.name + ".X_CJ");
    EXPECT_NEAR_ABSOLUTE(j.axis, k.axis, kTolerance);
    ASSERT_EQ(j.mimic.has_value(), k.mimic.has_value());
    if (j.mimic) {
      EXPECT_EQ(j.mimic->source, k.mimic->source);
      EXPECT_EQ(j.mimic->multiplier, k.mimic->multiplier);
      EXPECT_NEAR(j.mimic->offset, k.mimic->offset, kTolerance);
    }
  }
  for (int v = 0; v < a.model.nv(); ++v) expect_same(a.model.dofs()[v], b.model.dofs()[v]);
  EXPECT_TRUE(std::equal(a.model.excluded_pairs().begin(), a.model.excluded_pairs().end(),
                         b.model.excluded_pairs().begin(), b.model.excluded_pairs().end()));
  ASSERT_EQ(a.model.constraints().size(), b.model.constraints().size());
  for (std::size_t i = 0; i < a.model.constraints().size(); ++i) {
    EXPECT_EQ(a.model.constraints()[i].name, b.model.constraints()[i].name);
    expect_same(a.model.constraints()[i].X_AC, b.model.constraints()[i].X_AC, "X_AC");
    expect_same(a.model.constraints()[i].X_BC, b.model.constraints()[i].X_BC, "X_BC");
  }
  ASSERT_EQ(a.actuators.size(), b.actuators.size());
  for (std::size_t i = 0; i < a.actuators.size(); ++i) {
    EXPECT_EQ(a.actuators[i].name, b.actuators[i].name);
    EXPECT_EQ(a.actuators[i].kind, b.actuators[i].kind);
    EXPECT_EQ(a.actuators[i].dof, b.actuators[i].dof);
    for (const auto member :
         {&Actuator::gear, &Actuator::gain, &Actuator::damping, &Actuator::lower_control, &Actuator::upper_control,
          &Actuator::lower_force, &Actuator::upper_force, &Actuator::bias, &Actuator::stiffness})
      EXPECT_EQ(a.actuators[i].*member, b.actuators[i].*member);
  }
  ASSERT_EQ(a.keyframes.size(), b.keyframes.size());
  for (std::size_t i = 0; i < a.keyframes.size(); ++i) {
    EXPECT_EQ(a.keyframes[i].name, b.keyframes[i].name);
    EXPECT_NEAR_ABSOLUTE(a.keyframes[i].q, b.keyframes[i].q, kTolerance);
    EXPECT_NEAR_ABSOLUTE(a.keyframes[i].v, b.keyframes[i].v, kTolerance);
    EXPECT_EQ(a.keyframes[i].control, b.keyframes[i].control);
  }
}

void expect_round_trip(const Robot& robot) {
  const std::string text = to_mjcf(robot);
  SCOPED_TRACE(text);
  const Robot again = mjcf_from_text(text);
  expect_same(robot, again);
  // and what is written then is the same text, up to rounding: of the same length in lines
  const std::string second = to_mjcf(again);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(second.begin(), second.end(), '\n'));
}

TEST(MjcfWriter, RoundTripOfEverything) {
  expect_round_trip(mjcf_from_text(R"(
    <mujoco model='a &lt;model&gt; &amp; "more"'>
      <option gravity='0.1 0 -3'/>
      <asset>
        <mesh name='tet' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3' scale='.5 .4 .3'/>
      </asset>
      <worldbody>
        <geom name='floor' type='plane' size='1 1 1' zaxis='.1 .2 1' pos='.1 .2 .3'/>
        <body name='base' pos='1 2 3' euler='30 40 50'>
          <freejoint name='root'/>
          <geom name='g1' type='box' size='.1 .2 .3' pos='.1 0 0' rgba='1 0 0 .5'/>
          <geom name='g2' type='capsule' size='.1' fromto='0 0 0 1 2 3' friction='.4'/>
          <geom type='ellipsoid' size='.1 .2 .3' mass='2' group='3'/>
          <body name='arm' pos='.5 0 0' zaxis='1 2 3'>
            <joint name='j1' type='slide' axis='0 1 1' range='-.3 .4' ref='.1' stiffness='3' springref='.2'/>
            <joint name='j2' pos='.1 .2 .3' range='-90 90' ref='20' armature='.02' frictionloss='.3'/>
            <joint name='j3' type='ball' pos='0 .1 0' damping='.2'/>
            <geom name='g4' type='cylinder' size='.1 .4' zaxis='0 1 1'/>
            <body name='fixed' pos='0 0 .3' quat='.5 .5 .4 .3'>
              <geom name='g5' type='mesh' mesh='tet' pos='.1 .2 .3' euler='5 6 7'/>
              <geom name='g6' type='mesh' mesh='tet' contype='0' conaffinity='0'/>
              <geom name='g7' type='mesh' mesh='tet' group='4' pos='1 2 3'/>
              <body name='tip' pos='0 .3 0'>
                <joint name='j4' axis='0 0 -2' actuatorfrcrange='-3 3' range='0 0' limited='true'/>
                <inertial pos='.1 .2 .3' quat='.1 .2 .3 .4' mass='3' diaginertia='.3 .4 .5'/>
              </body>
              <body name='tip2'><joint name='j5' ref='7'/><geom size='.1'/></body>
            </body>
          </body>
        </body>
        <body pos='0 0 1'><geom size='.3'/></body>
      </worldbody>
      <contact><exclude body1='base' body2='tip2'/></contact>
      <equality>
        <weld name='w' body1='arm' body2='tip'/> <connect name='c' body1='arm' body2='tip' anchor='1 2 3'/>
        <joint joint1='j5' joint2='j2' polycoef='.1 .5'/>
      </equality>
      <actuator>
        <motor name='m1' joint='j1' gear='3' ctrlrange='-1 1' forcerange='-2 2'/>
        <position name='p2' joint='j2' kp='3' kv='.5'/> <velocity name='v4' joint='j4' kv='5'/>
        <general name='g4' joint='j4' gainprm='7'/> <motor name='m3' joint='j3' gear='0 0 4'/>
        <general name='a5' joint='j5' gainprm='7' biastype='affine' biasprm='1 -2 -3'/>
      </actuator>
      <keyframe>
        <key name='k' qpos='1 2 3 .1 .2 .3 .4  .1 .2 .4 .3 .2 .1 .5 .6' qvel='1 2 3 4 5 6 7 8 9 10 11 12 13'
          ctrl='1 2 3 4 5 6'/>
      </keyframe>
    </mujoco>)"));
}

TEST(MjcfWriter, RoundTripOfHumanoidAndCar) {
  std::string missing;
  for (const char* name : {"mjcf/humanoid.xml", "mjcf/car.xml"}) {
    const std::filesystem::path file = test::robot_file(name);
    if (file.empty())
      missing += std::string(" ") + name;
    else
      expect_round_trip(load_robot(file));
  }
  if (!missing.empty()) GTEST_SKIP() << "not at hand (TANGERE_ROBOTS):" << missing;
}

TEST(MjcfWriter, RobotsFromUrdf) {
  std::string missing;
  for (const char* name : {"atlas/atlas_v3_box_colliders.urdf", "quadruped_description/urdf/quadruped.urdf",
                           "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
                           "simple_humanoid_description/urdf/simple_humanoid.urdf"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path file = test::robot_file(name);
    if (file.empty()) {
      missing += std::string(" ") + name;
      continue;
    }
    const Robot robot = load_robot(file, {.base = Base::free, .search_paths = {}});
    const Robot again = mjcf_from_text(to_mjcf(robot));
    ASSERT_EQ(again.model.nv(), robot.model.nv());
    EXPECT_NEAR(again.model.total_mass(), robot.model.total_mass(), 1e-9);
    for (const Joint& joint : robot.model.joints()) {
      if (joint.nv == 0) continue;
      const Joint& other = again.model.joint(again.model.joint_index(joint.spec.name));
      EXPECT_EQ(other.spec.type, joint.spec.type);
      for (int k = 0; k < joint.nv; ++k)
        expect_same(again.model.dofs()[other.first_v + k], robot.model.dofs()[joint.first_v + k]);
    }
  }
  if (!missing.empty()) GTEST_SKIP() << "not at hand (TANGERE_ROBOTS):" << missing;
}

/// What fixed joints hold together is one thing to collide with, in both formats.
TEST(MjcfWriter, NeighboursOfFixedBodiesStayNeighbours) {
  std::string links;
  for (const char* name : {"a", "b", "c", "d"})
    links += std::string("<link name=\"") + name +
             "\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>"
             "</inertial><collision><geometry><sphere radius=\"1\"/></geometry></collision></link>";
  const auto joint = [](const char* name, const char* type, const char* parent, const char* child) {
    return std::string("<joint name=\"") + name + "\" type=\"" + type + "\"><parent link=\"" + parent +
           "\"/><child link=\"" + child + "\"/></joint>";
  };
  const std::string urdf = "<robot name=\"r\">" + links + joint("f", "fixed", "a", "b") +
                           joint("h", "continuous", "b", "c") + joint("k", "fixed", "c", "d") + "</robot>";
  for (const Base base : {Base::fixed, Base::free}) {
    LoadOptions options;
    options.base = base;
    const Robot robot = urdf_from_text(urdf, "r.urdf", options);
    const Robot back = mjcf_from_text(to_mjcf(robot), "r.xml");
    for (const char* first : {"a", "b", "c", "d"})
      for (const char* second : {"a", "b", "c", "d"})
        EXPECT_EQ(robot.model.may_collide(robot.model.body_index(first), robot.model.body_index(second)),
                  back.model.may_collide(back.model.body_index(first), back.model.body_index(second)))
            << first << " and " << second;
    // over a joint of a floating robot nothing collides; of one on a stand, what is not right at the joint does
    EXPECT_EQ(robot.model.may_collide(robot.model.body_index("a"), robot.model.body_index("d")), base == Base::fixed);
  }
}

TEST(MjcfWriter, OtherShapesThatMjcfHas) {
  ModelBuilder builder("m");
  BodySpec body{.name = "b", .inertia = mass_properties(Box{{1, 1, 1}}), .shapes = {}, .visuals = {}};
  const Pose X = Pose::translation({1, 2, 3});
  Matrix3 P;
  P << 4, 0, 0, 0, 3, 1, 0, 1, 2;
  MatrixX3 vertices(4, 3);
  vertices << 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1;
  body.shapes.push_back({"ellipsoid", Ellipsoid{.P = P}, X});
  body.shapes.push_back({"polytope", Polytope::from_vertices(vertices), X});
  (void)builder.add_body(body, {});
  BodySpec ground{.name = "ground", .inertia = {0.0, Vector3::Zero(), Matrix3::Zero()}, .shapes = {}, .visuals = {}};
  ground.shapes.push_back({"half-space", HalfSpace{{0, 2, 0}, 3.0}, X});
  (void)builder.add_body(ground, {});
  const Robot again = mjcf_from_text(to_mjcf({builder.build(), {}, {}, {}}));
  const std::vector<CollisionShape>& shapes = again.model.body(0).spec.shapes;
  Random random(3);
  for (std::size_t i = 0; i < 2; ++i) {
    for (int k = 0; k < 20; ++k) {
      const Vector3 n = random.unit_vector();
      const Vector3 p = shapes[i].X_BS * support(shapes[i].shape, shapes[i].X_BS.R.transpose() * n);
      EXPECT_NEAR(p.dot(n), (X * support(body.shapes[i].shape, n)).dot(n), kTolerance);
    }
  }
  const CollisionShape& plane = again.model.body(1).spec.shapes[0];
  EXPECT_NEAR_ABSOLUTE(Vector3(plane.X_BS.R.col(2)), Vector3::UnitY(), kTolerance);
  EXPECT_NEAR(plane.X_BS.p[1], 3.5, kTolerance);
}

/// A tree of all joints that MJCF has, each with the frames that MJCF can say.
Robot random_tree(Random& random) {
  const auto pose = [&] { return Pose(random.rotation(), random.normal3()); };
  ModelBuilder builder("tree");
  for (int i = 0; i < 10; ++i) {
    constexpr JointType kTypes[] = {JointType::free, JointType::fixed, JointType::revolute, JointType::prismatic,
                                    JointType::ball};
    BodySpec body;
    body.name = "b" + std::to_string(i);
    body.inertia = mass_properties(Box{{0.1, 0.2, 0.3}});
    JointSpec joint;
    joint.name = "j" + std::to_string(i);
    joint.type = kTypes[i % 5];
    joint.axis = random.unit_vector();
    if (joint.type != JointType::free) {
      joint.X_PJ = pose();
      joint.X_CJ = joint.type == JointType::ball ? Pose::translation(random.normal3()) : pose();
    }
    (void)builder.add_body(body, joint, joint.type == JointType::free ? kWorld : random.index(i));
  }
  return {builder.build(), {}, {}, {}};
}

TEST(MjcfWriter, PosesAreThoseThatWereWritten) {
  Random random(11);
  for (int trial = 0; trial < 40; ++trial) {
    Robot robot = random_tree(random);
    const Model& model = robot.model;
    // the file may have the bodies anywhere, balls apart
    if (trial % 2 == 1) {
      VectorX q = random_configuration(model, random);
      for (const Joint& joint : model.joints())
        if (joint.spec.type == JointType::ball) q.segment<4>(joint.first_q) << 0.0, 0.0, 0.0, 1.0;
      robot.keyframes.push_back({"initial", q, VectorX::Zero(model.nv()), VectorX()});
    }
    const Robot again = mjcf_from_text(to_mjcf(robot));

    // the same coordinates, joint by joint
    const VectorX q = random_configuration(model, random);
    VectorX q_again(again.model.nq());
    for (const Joint& joint : model.joints()) {
      if (joint.nq == 0) continue;
      const Joint& other = again.model.joint(again.model.joint_index(joint.spec.name));
      q_again.segment(other.first_q, other.nq) = q.segment(joint.first_q, joint.nq);
    }
    Data data(model);
    Data data_again(again.model);
    forward_kinematics(model, data, q);
    forward_kinematics(again.model, data_again, q_again);
    for (int i = 0; i < model.num_bodies(); ++i) {
      const std::string& name = model.body(i).spec.name;
      expect_same(body_pose(model, data, i), body_pose(again.model, data_again, again.model.body_index(name)), name);
    }
  }
}

/// Bodies `b0`, `b1`, … each fixed to the one before.
Robot chain_of(int count) {
  ModelBuilder builder("chain");
  int parent = kWorld;
  for (int i = 0; i < count; ++i) {
    BodySpec body;
    body.name = "b" + std::to_string(i);
    body.inertia = mass_properties(Sphere{0.1});
    JointSpec joint;
    joint.name = body.name;
    parent = builder.add_body(body, joint, parent);
  }
  return {builder.build(), {}, {}, {}};
}

TEST(MjcfWriter, ChainsAsLongAsTheReaderFollows) {
  EXPECT_EQ(mjcf_from_text(to_mjcf(chain_of(95))).model.num_bodies(), 95);
  for (const int length : {96, 2000}) {
    try {
      (void)to_mjcf(chain_of(length));
      ADD_FAILURE() << length;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "b95: hangs from too many bodies for a file: elements nest up to 98 deep");
    }
  }
}

TEST(MjcfWriter, InertiasAreAsShortAsTheyCanBe) {
  const std::string text = to_mjcf(mjcf_from_text(R"(<mujoco><worldbody>
    <body name='diagonal'><inertial pos='1 2 3' mass='4' diaginertia='.2 .3 .4'/></body>
    <body name='full'><inertial pos='0 0 0' mass='5' fullinertia='.2 .3 .4 .01 0 0'/></body>
    <body name='massless'/>
  </worldbody></mujoco>)"));
  EXPECT_NE(text.find(R"(<inertial pos="1 2 3" mass="4" diaginertia="0.2 0.3 0.4"/>)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(<inertial pos="0 0 0" mass="5" fullinertia="0.2 0.3 0.4 0.01 0 0"/>)"), std::string::npos);
  EXPECT_NE(text.find(R"(<body name="massless"/>)"), std::string::npos) << text;
}

/// MJCF has the anchor in the first body alone: the other is where the file has the bodies.
TEST(MjcfWriter, ConnectsKeepBothAnchors) {
  const auto robot_with = [](const std::string& keys) {
    return mjcf_from_text(R"(<mujoco><worldbody>
      <body name='a'><joint name='i' axis='0 1 0'/><geom size='.1'/></body>
      <body name='b' pos='1 0 0'><joint name='j' axis='0 1 0' range='-2 2'/><geom size='.1'/></body></worldbody>
      <equality><connect name='loop' body1='a' body2='b' anchor='0 0 1'/></equality>)" +
                          keys + "</mujoco>");
  };
  // where the keyframe has it open, the neutral configuration does for the file
  for (const char* keys : {"", "<keyframe><key name='initial' qpos='.5 .3'/></keyframe>"}) {
    const Robot robot = robot_with(keys);
    const Robot again = mjcf_from_text(to_mjcf(robot));
    ASSERT_EQ(again.model.constraints().size(), 1U);
    const LoopConstraint& expected = robot.model.constraints()[0];
    EXPECT_NEAR_ABSOLUTE(again.model.constraints()[0].X_AC.p, expected.X_AC.p, kTolerance);
    EXPECT_NEAR_ABSOLUTE(again.model.constraints()[0].X_BC.p, expected.X_BC.p, kTolerance);
    ASSERT_EQ(again.keyframes.size(), robot.keyframes.size());
    for (std::size_t i = 0; i < again.keyframes.size(); ++i)
      EXPECT_NEAR_ABSOLUTE(again.keyframes[i].q, robot.keyframes[i].q, kTolerance);
  }
  // open wherever the file could have it
  ModelBuilder builder("m");
  const BodySpec ball{.name = "a", .inertia = mass_properties(Sphere{0.1})};
  (void)builder.add_body(ball, {.name = "i", .type = JointType::revolute});
  LoopConstraint loop;
  loop.name = "loop";
  loop.kind = LoopConstraint::Kind::connect;
  loop.body_A = kWorld;
  loop.body_B = 0;
  loop.X_AC.p = Vector3::UnitX();
  loop.X_BC.p = Vector3::UnitY();
  builder.add_constraint(loop);
  EXPECT_THROW((void)to_mjcf({builder.build(), {}, {}, {}}), InputError);
}

TEST(MjcfWriter, RangesWithOneEnd) {
  ModelBuilder builder("m");
  const BodySpec ball{.name = "a", .inertia = mass_properties(Sphere{0.1})};
  (void)builder.add_body(ball, {.name = "i", .type = JointType::revolute, .dofs = {DofSpec{.lower = -0.5}}});
  Actuator motor;
  motor.name = "motor";
  motor.dof = 0;
  motor.upper_control = 3.0;
  const Robot again = mjcf_from_text(to_mjcf({builder.build(), {motor}, {}, {}}));
  EXPECT_EQ(again.model.dofs()[0].lower, -0.5);
  EXPECT_EQ(again.model.dofs()[0].upper, DofSpec::kInfinity);
  EXPECT_EQ(again.actuators[0].lower_control, -Actuator::kInfinity);
  EXPECT_EQ(again.actuators[0].upper_control, 3.0);
}

TEST(MjcfWriter, WhatMjcfCannotSay) {
  const MassProperties mass = mass_properties(Box{{1, 1, 1}});
  const auto error_of = [&](const Shape& shape, JointType type) -> std::string {
    ModelBuilder builder("m");
    BodySpec body{.name = "b", .inertia = mass, .shapes = {}, .visuals = {}};
    body.shapes.push_back({"s", shape, {}});
    JointSpec joint;
    joint.name = "j";
    joint.type = type;
    (void)builder.add_body(body, joint);
    try {
      (void)to_mjcf({builder.build(), {}, {}, {}});
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(Cone{1.0, 0.5}, JointType::fixed), "s: MJCF has no shape of type cone");
  EXPECT_EQ(error_of(Sphere{1.0}, JointType::planar), "j: MJCF has no joint of type planar");

  // a ball whose coordinates are not along the body's axes
  ModelBuilder turned("m");
  JointSpec ball;
  ball.name = "ball";
  ball.type = JointType::ball;
  ball.X_CJ = Pose::rotation(Matrix3(Vector3(1, -1, -1).asDiagonal()));
  (void)turned.add_body({.name = "b", .inertia = mass, .shapes = {}, .visuals = {}}, ball);
  EXPECT_THROW((void)to_mjcf({turned.build(), {}, {}, {}}), InputError);

  // a free body below another
  ModelBuilder above("m");
  const int base = above.add_body({.name = "a", .inertia = mass, .shapes = {}, .visuals = {}},
                                  {.name = "f", .type = JointType::free});
  (void)above.add_body({.name = "b", .inertia = mass, .shapes = {}, .visuals = {}},
                       {.name = "g", .type = JointType::free}, base);
  try {
    (void)to_mjcf({above.build(), {}, {}, {}});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "g: MJCF has free joints of bodies in the world only");
  }

  // speeds and restitution are named in a comment
  ModelBuilder builder("m");
  BodySpec body{.name = "b", .inertia = mass, .shapes = {}, .visuals = {}};
  body.shapes.push_back({.name = "s", .shape = Sphere{1.0}, .X_BS = {}, .restitution = 0.5});
  JointSpec joint;
  joint.type = JointType::revolute;
  joint.dofs = {DofSpec{}};
  joint.dofs[0].velocity = 3.0;
  (void)builder.add_body(body, joint);
  const std::string text = to_mjcf({builder.build(), {}, {}, {}});
  EXPECT_NE(text.find("<!-- left out: largest speeds"), std::string::npos);
  EXPECT_NE(text.find("<!-- left out: coefficients of restitution"), std::string::npos);
}

}  // namespace
}  // namespace tangere
