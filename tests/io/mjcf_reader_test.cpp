#include "tangere/io/robot/mjcf_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include <Eigen/Geometry>

#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/robot_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tangere {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

Robot read(const std::string& inside) { return mjcf_from_text("<mujoco>" + inside + "</mujoco>"); }
Robot read_world(const std::string& inside) { return read("<worldbody>" + inside + "</worldbody>"); }

const BodySpec& body_of(const Robot& robot, std::string_view name) {
  return robot.model.body(robot.model.body_index(name)).spec;
}
const JointSpec& joint_of(const Robot& robot, std::string_view name) {
  return robot.model.joint(robot.model.joint_index(name)).spec;
}

// the tree
// ---------------------------------------------------------------------------------------------------------------------

TEST(Mjcf, RangesThatOnlyAutolimitsWouldCountAreReported) {
  const Robot robot = read(R"(<compiler autolimits='false'/><worldbody><body>
      <joint name='j' range='-1 1' limited='auto' actuatorfrcrange='-3 3'/><geom size='.1'/></body></worldbody>
    <actuator><motor joint='j' ctrlrange='-1 1' forcerange='-2 2'/></actuator>)");
  EXPECT_EQ(robot.model.dofs()[0].upper, DofSpec::kInfinity);
  EXPECT_EQ(robot.model.dofs()[0].effort, DofSpec::kInfinity);
  EXPECT_EQ(robot.actuators[0].upper_control, Actuator::kInfinity);
  ASSERT_EQ(robot.notices.size(), 4U);
  for (const Notice& notice : robot.notices) EXPECT_NE(notice.text.find("autolimits is off"), std::string::npos);
}

TEST(Mjcf, ManyWithoutANameGetOneEach) {
  std::string motors;
  for (int i = 0; i < 50; ++i) motors += "<motor joint='j'/>";
  const Robot robot = read("<worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody><actuator>" + motors +
                           "<motor name='j_60' joint='j'/><motor joint='j'/></actuator>");
  std::set<std::string> names;
  for (const Actuator& actuator : robot.actuators) names.insert(actuator.name);
  EXPECT_EQ(names.size(), 52U);
  EXPECT_TRUE(names.contains("j"));
  EXPECT_TRUE(names.contains("j_50"));
}

/// Of equal contype and conaffinity any number of kinds stays as it is.
TEST(Mjcf, ManyKindsOfContact) {
  std::string geoms;
  for (int i = 1; i <= 2000; ++i) {
    const std::string bits = std::to_string(i);
    geoms += "<geom size='.1' mass='.001' contype='" + bits + "' conaffinity='" + bits + "'/>";
  }
  const Robot robot = read_world("<body name='b'><joint/>" + geoms + "</body>");
  EXPECT_EQ(body_of(robot, "b").shapes[1233].group, 1234U);
  EXPECT_EQ(body_of(robot, "b").shapes[1233].mask, 1234U);
  EXPECT_TRUE(robot.notices.empty());
}

TEST(MjcfReader, TypesOfJoints) {
  const Robot robot = read_world(R"(
    <body name='a' pos='1 2 3'><freejoint name='f'/><geom size='.1'/>
      <body name='b' pos='0 0 1'><joint name='h' axis='0 2 0' pos='0 .1 0'/><geom size='.1'/></body>
      <body name='c'><joint name='s' type='slide' axis='1 0 0'/><geom size='.1'/></body>
      <body name='d'><joint name='o' type='ball'/><geom size='.1'/></body>
      <body name='e' quat='0 1 0 0'><geom size='.1'/></body>
    </body>)");
  EXPECT_TRUE(robot.notices.empty());
  EXPECT_EQ(robot.model.name(), "model");
  EXPECT_EQ(robot.model.nq(), 7 + 1 + 1 + 4);
  EXPECT_EQ(robot.model.nv(), 6 + 1 + 1 + 3);
  EXPECT_EQ(joint_of(robot, "f").type, JointType::free);
  EXPECT_EQ(joint_of(robot, "f").X_PJ.p, Vector3::Zero());
  EXPECT_EQ(joint_of(robot, "h").type, JointType::revolute);
  EXPECT_EQ(joint_of(robot, "h").axis, Vector3::UnitY());
  EXPECT_EQ(joint_of(robot, "h").X_PJ.p, Vector3(0, 0.1, 1));
  EXPECT_EQ(joint_of(robot, "h").X_CJ.p, Vector3(0, 0.1, 0));
  EXPECT_EQ(joint_of(robot, "s").type, JointType::prismatic);
  EXPECT_EQ(joint_of(robot, "o").type, JointType::ball);
  EXPECT_EQ(joint_of(robot, "e").type, JointType::fixed);
  EXPECT_NEAR_ABSOLUTE(joint_of(robot, "e").X_PJ.R, Matrix3(Vector3(1, -1, -1).asDiagonal()), 1e-15);
  // where the file has the bodies
  ASSERT_EQ(robot.keyframes.size(), 1U);
  EXPECT_EQ(robot.keyframes[0].name, "initial");
  EXPECT_EQ(robot.keyframes[0].q.head<3>(), Vector3(1, 2, 3));
  EXPECT_EQ(robot.keyframes[0].q[6], 1.0);
}

TEST(MjcfReader, SeveralJointsOfABodyAreAChain) {
  const Robot robot = read_world(R"(
    <body name='p'><joint name='first'/><geom size='.1'/>
      <body name='b' pos='0 0 1'>
        <joint name='x' axis='1 0 0' pos='0 0 .1'/><joint axis='0 1 0'/><joint name='z' type='slide'/>
        <geom size='.1'/>
      </body></body>)");
  const Model& model = robot.model;
  EXPECT_EQ(model.num_bodies(), 4);
  EXPECT_EQ(model.joint(1).spec.name, "x");
  EXPECT_EQ(model.joint(2).spec.name, "b/joint2");
  EXPECT_EQ(model.joint(3).spec.name, "z");
  EXPECT_EQ(model.body(1).spec.name, "b/x");
  EXPECT_EQ(model.body(2).spec.name, "b/b/joint2");
  EXPECT_EQ(model.body(3).spec.name, "b");
  EXPECT_EQ(model.body(1).spec.inertia.mass, 0.0);
  EXPECT_EQ(model.joint(1).spec.X_PJ.p, Vector3(0, 0, 1.1));
  EXPECT_EQ(model.joint(2).spec.X_PJ.p, Vector3::Zero());
  // parent and child do not collide, though two joints are between
  const auto pairs = model.excluded_pairs();
  EXPECT_NE(std::find(pairs.begin(), pairs.end(), std::pair(0, 3)), pairs.end());
}

TEST(MjcfReader, BodiesFixedToEachOtherAreOneForCollisions) {
  const Robot robot = read_world(R"(
    <geom type='plane' size='1 1 1'/>
    <body name='torso'><freejoint/><geom size='.1'/>
      <body name='head'><geom size='.1'/></body>
      <body name='arm'><joint/><geom size='.1'/><body name='hand'><geom size='.1'/></body></body>
      <body name='leg'><joint/><geom size='.1'/></body>
    </body>)");
  const Model& model = robot.model;
  const auto excluded = [&](const char* a, const char* b) {
    const int i = model.body_index(a);
    const int j = model.body_index(b);
    const auto pairs = model.excluded_pairs();
    return std::find(pairs.begin(), pairs.end(), std::pair(std::min(i, j), std::max(i, j))) != pairs.end();
  };
  EXPECT_TRUE(excluded("torso", "head"));
  EXPECT_TRUE(excluded("head", "arm"));
  EXPECT_TRUE(excluded("head", "hand"));
  EXPECT_TRUE(excluded("torso", "hand"));
  EXPECT_FALSE(excluded("arm", "leg"));
  EXPECT_FALSE(excluded("worldbody", "torso"));
  EXPECT_EQ(body_of(robot, "worldbody").inertia.mass, 0.0);
}

/// Pairs are listed: a million is enough.
TEST(MjcfReader, ManyBodiesFixedToEachOtherOnBothSidesOfAJoint) {
  const auto many = [](int count) {
    std::string bodies;
    for (int i = 0; i < count; ++i) bodies += "<body><geom size='.1'/></body>";
    return "<body name='a'><joint/><geom size='.1'/>" + bodies + "\n<body name='b'><joint/><geom size='.1'/>" + bodies +
           "</body></body>";
  };
  EXPECT_EQ(read_world(many(20)).model.num_bodies(), 42);
  try {
    (void)read_world(many(1200));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("body[b]"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("1442401 pairs that do not collide, at most 1000000"), std::string::npos);
  }
}

TEST(MjcfReader, NumbersOfAJoint) {
  const Robot robot = read(R"(
    <worldbody><body name='b'><geom size='.1'/>
      <joint name='h' range='-90 45' damping='2' stiffness='3' springref='10' ref='30' armature='.1' frictionloss='.2'
        actuatorfrcrange='-5 5' pos='1 0 0'/>
      <joint name='s' type='slide' axis='0 1 0' range='-1 2' ref='.5'/>
      <joint name='u' range='-1 1' limited='false'/>
      <joint name='no_range' axis='1 0 0' range='0 0' actuatorfrcrange='0 0'/>
      <joint name='held' type='slide' range='.1 .1' limited='true' actuatorfrcrange='0 0' actuatorfrclimited='true'/>
    </body></worldbody>)");
  const DofSpec& dof = robot.model.dofs()[0];
  EXPECT_NEAR(dof.lower, -90 * kDegree, 1e-15);
  EXPECT_NEAR(dof.upper, 45 * kDegree, 1e-15);
  EXPECT_EQ(dof.damping, 2.0);
  EXPECT_EQ(dof.stiffness, 3.0);
  EXPECT_NEAR(dof.rest, 10 * kDegree, 1e-15);
  EXPECT_EQ(dof.armature, 0.1);
  EXPECT_EQ(dof.friction, 0.2);
  EXPECT_EQ(dof.effort, 5.0);
  EXPECT_EQ(robot.model.dofs()[1].lower, -1.0);
  EXPECT_EQ(robot.model.dofs()[1].upper, 2.0);
  EXPECT_EQ(robot.model.dofs()[2].upper, DofSpec::kInfinity);
  EXPECT_EQ(robot.model.dofs()[3].upper, DofSpec::kInfinity);
  EXPECT_EQ(robot.model.dofs()[3].effort, DofSpec::kInfinity);
  EXPECT_EQ(robot.model.dofs()[4].lower, 0.1);
  EXPECT_EQ(robot.model.dofs()[4].upper, 0.1);
  EXPECT_EQ(robot.model.dofs()[4].effort, 0.0);
  // at q = ref the bodies are where the file has them
  EXPECT_NEAR_ABSOLUTE(joint_of(robot, "h").X_PJ.R, so3::exp({0, 0, -30 * kDegree}), 1e-15);
  EXPECT_NEAR_ABSOLUTE(joint_of(robot, "s").X_PJ.p, Vector3(0, -0.5, 0), 1e-15);
  EXPECT_NEAR_ABSOLUTE(Vector3(robot.keyframes[0].q.head<3>()), Vector3(30 * kDegree, 0.5, 0), 1e-15);
}

// orientations and units
// ---------------------------------------------------------------------------------------------------------------------

Matrix3 rotation_in(const std::string& attribute, const std::string& compiler = "") {
  const Robot robot = read("<compiler " + compiler + "/><worldbody><body name='b' " + attribute + "/></worldbody>");
  return joint_of(robot, "b").X_PJ.R;
}

TEST(MjcfReader, Orientations) {
  const Matrix3 x30 = so3::exp({30 * kDegree, 0, 0});
  const Matrix3 y40 = so3::exp({0, 40 * kDegree, 0});
  const Matrix3 z50 = so3::exp({0, 0, 50 * kDegree});
  EXPECT_NEAR_ABSOLUTE(rotation_in("quat='2 0 0 2'"), so3::exp({0, 0, 90 * kDegree}), 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("axisangle='0 3 0 40'"), y40, 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("axisangle='0 3 0 .5'", "angle='radian'"), so3::exp({0, 0.5, 0}), 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("euler='30 40 50'"), Matrix3(x30 * y40 * z50), 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("euler='30 40 50'", "eulerseq='XYZ'"), Matrix3(z50 * y40 * x30), 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("euler='50 40 30'", "eulerseq='zyx'"), Matrix3(z50 * y40 * x30), 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("xyaxes='0 2 0 -1 1 0'"), so3::exp({0, 0, 90 * kDegree}), 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("zaxis='0 -1 0'"), so3::exp({90 * kDegree, 0, 0}), 1e-14);
  EXPECT_NEAR_ABSOLUTE(rotation_in("zaxis='0 0 -1'"), so3::exp({180 * kDegree, 0, 0}), 1e-14);
}

TEST(MjcfReader, FromtoGoesBeforeAnOrientation) {
  const Robot robot =
      read_world("<body name='b'><geom type='capsule' size='.1' fromto='0 0 0 1 0 0' euler='1 2 3'/></body>");
  EXPECT_NEAR_ABSOLUTE(Vector3(body_of(robot, "b").shapes[0].X_BS.R.col(0).cwiseAbs()), Vector3::UnitX(), 1e-15);
  ASSERT_EQ(robot.notices.size(), 1U);
  EXPECT_EQ(to_string(robot.notices[0]),
            "model.xml:1: mujoco/worldbody/body[b]/geom.euler: this attribute is not used, got '1 2 3'");
}

TEST(MjcfReader, FramesPassTheirPoseOn) {
  const Robot robot = read_world(R"(
    <frame pos='1 0 0' euler='0 0 90'><body name='b' pos='1 0 0'>
      <frame pos='0 0 1' euler='90 0 0'><geom name='g' size='.1' pos='0 1 0'/><joint name='j' axis='0 1 0'/></frame>
    </body></frame>)");
  EXPECT_NEAR_ABSOLUTE(Vector3(joint_of(robot, "j").X_PJ * (-joint_of(robot, "j").X_CJ.p)), Vector3(1, 1, 0), 1e-14);
  EXPECT_NEAR_ABSOLUTE(joint_of(robot, "j").axis, Vector3::UnitZ(), 1e-14);
  EXPECT_NEAR_ABSOLUTE(joint_of(robot, "j").X_CJ.p, Vector3::UnitZ(), 1e-14);
  EXPECT_NEAR_ABSOLUTE(body_of(robot, "b").shapes[0].X_BS.p, Vector3(0, 0, 2), 1e-14);
}

// geoms
// ---------------------------------------------------------------------------------------------------------------------

TEST(MjcfReader, TypesOfGeoms) {
  const Robot robot = read_world(R"(
    <geom name='floor' type='plane' size='0 0 1' pos='0 0 1' zaxis='0 1 0'/>
    <body name='b'>
      <geom type='sphere' size='.5'/> <geom type='capsule' size='.1 .4'/> <geom type='cylinder' size='.1 .4'/>
      <geom type='ellipsoid' size='1 2 3'/> <geom type='box' size='1 2 3'/>
      <geom type='capsule' size='.1' fromto='1 0 0 3 0 0' pos='0 0 0'/>
    </body>)");
  const std::vector<CollisionShape>& shapes = body_of(robot, "b").shapes;
  ASSERT_EQ(shapes.size(), 6U);
  EXPECT_EQ(shapes[0].shape.get_if<Sphere>()->radius, 0.5);
  EXPECT_EQ(shapes[1].shape.get_if<Capsule>()->length, 0.8);
  EXPECT_EQ(shapes[2].shape.get_if<Cylinder>()->length, 0.8);
  EXPECT_EQ(shapes[3].shape.get_if<Ellipsoid>()->semi_axes, Vector3(1, 2, 3));
  EXPECT_EQ(shapes[4].shape.get_if<Box>()->size, Vector3(2, 4, 6));
  EXPECT_EQ(shapes[5].shape.get_if<Capsule>()->length, 2.0);
  // the axis of capsules is z there and x here
  EXPECT_EQ(shapes[1].X_BS.R.col(0), Vector3::UnitZ());
  EXPECT_EQ(shapes[5].X_BS.p, Vector3(2, 0, 0));
  EXPECT_NEAR(std::abs(shapes[5].X_BS.R(0, 0)), 1.0, 1e-15);
  // drawn as well
  EXPECT_EQ(body_of(robot, "b").visuals.size(), 6U);
  const CollisionShape& floor = body_of(robot, "worldbody").shapes[0];
  EXPECT_TRUE(floor.shape.is_half_space());
  EXPECT_NEAR_ABSOLUTE(Vector3(floor.X_BS.R * floor.shape.get_if<HalfSpace>()->normal), Vector3::UnitY(), 1e-15);
  EXPECT_EQ(floor.X_BS.p, Vector3::UnitZ());
}

TEST(MjcfReader, MassesOfGeoms) {
  const Robot robot = read_world(R"(
    <body name='b'>
      <geom type='box' size='.5 .5 .5' pos='1 0 0' density='10'/>
      <geom type='box' size='.5 .5 .5' pos='-1 0 0' mass='30'/>
      <geom size='.5' mass='0'/>
    </body>
    <body name='ball'><geom size='.5'/></body>)");
  const MassProperties& inertia = body_of(robot, "b").inertia;
  EXPECT_NEAR(inertia.mass, 40.0, 1e-12);
  EXPECT_NEAR_ABSOLUTE(inertia.center, Vector3(-0.5, 0, 0), 1e-15);
  EXPECT_NEAR(inertia.inertia(0, 0), 40.0 / 6.0, 1e-12);
  EXPECT_NEAR(inertia.inertia(1, 1), 40.0 / 6.0 + 10 * 1.5 * 1.5 + 30 * 0.5 * 0.5, 1e-12);
  EXPECT_NEAR(body_of(robot, "ball").inertia.mass, 1000.0 * std::numbers::pi / 6.0, 1e-9);
}

TEST(MjcfReader, InertialsAndWhenTheyCount) {
  const std::string bodies = R"(<worldbody>
    <body name='d'><inertial pos='1 0 0' mass='2' diaginertia='1 2 2.5' euler='0 0 90'/><geom size='.5' mass='7'/></body>
    <body name='f'><inertial pos='0 0 0' mass='2' fullinertia='1 2 2.5 .1 .2 .3'/></body>
    <body name='g'><geom size='.5' mass='7'/><geom size='.5' mass='3' group='4'/></body></worldbody>)";
  const Robot robot = read(bodies);
  EXPECT_EQ(body_of(robot, "d").inertia.mass, 2.0);
  EXPECT_EQ(body_of(robot, "d").inertia.center, Vector3::UnitX());
  EXPECT_NEAR_ABSOLUTE(body_of(robot, "d").inertia.inertia, Matrix3(Vector3(2, 1, 2.5).asDiagonal()), 1e-15);
  EXPECT_EQ(body_of(robot, "f").inertia.inertia(0, 1), 0.1);
  EXPECT_EQ(body_of(robot, "f").inertia.inertia(0, 2), 0.2);
  EXPECT_EQ(body_of(robot, "f").inertia.inertia(2, 1), 0.3);
  EXPECT_EQ(body_of(robot, "g").inertia.mass, 10.0);
  const auto mass = [&](const std::string& compiler, const char* body) {
    return body_of(read("<compiler " + compiler + "/>" + bodies), body).inertia.mass;
  };
  EXPECT_EQ(mass("inertiafromgeom='true'", "d"), 7.0);
  // where no geom counts, what is given does
  EXPECT_EQ(mass("inertiafromgeom='true'", "f"), 2.0);
  EXPECT_EQ(mass("inertiafromgeom='true' inertiagrouprange='1 3'", "d"), 2.0);
  EXPECT_EQ(mass("inertiafromgeom='false'", "g"), 0.0);
  EXPECT_EQ(mass("inertiagrouprange='0 3'", "g"), 7.0);
  EXPECT_EQ(mass("boundmass='5'", "f"), 5.0);
  EXPECT_NEAR(read("<compiler settotalmass='28'/>" + bodies).model.total_mass(), 28.0, 1e-12);
  // no such body: balanced
  const Robot balanced = read(
      "<compiler balanceinertia='true' boundinertia='.3'/><worldbody><body name='b'>"
      "<inertial pos='0 0 0' mass='1' diaginertia='3 .1 .2'/></body></worldbody>");
  EXPECT_NEAR_ABSOLUTE(body_of(balanced, "b").inertia.inertia, Matrix3(1.2 * Matrix3::Identity()), 1e-14);
}

TEST(MjcfReader, Meshes) {
  const test::TemporaryFolder folder;
  folder.write("meshes/tetrahedron.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const std::filesystem::path file = folder.write("robot.xml", R"(<mujoco><compiler meshdir='meshes'/>
    <asset><mesh file='tetrahedron.obj' scale='2 2 2'/>
      <mesh name='box' vertex='0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1 .5 .5 .5'/></asset>
    <worldbody><body name='b'>
      <geom name='t' type='mesh' mesh='tetrahedron' pos='0 0 1'/>
      <geom name='seen' type='mesh' mesh='tetrahedron' contype='0' conaffinity='0' mass='0'/>
    </body><body name='c'><geom type='mesh' mesh='box' mass='3'/></body></worldbody></mujoco>)");
  const Robot robot = load_robot(file);
  EXPECT_TRUE(robot.notices.empty());
  const BodySpec& body = body_of(robot, "b");
  EXPECT_NEAR(body.inertia.mass, 8.0 / 6.0 * 1000.0, 1e-9);
  EXPECT_NEAR_ABSOLUTE(body.inertia.center, Vector3(0.5, 0.5, 1.5), 1e-12);
  ASSERT_EQ(body.shapes.size(), 1U);
  EXPECT_EQ(body.shapes[0].shape.type_name(), "polytope");
  EXPECT_NEAR_ABSOLUTE(body.shapes[0].X_BS.p, Vector3(0.5, 0.5, 1.5), 1e-12);
  const Vector3 tip = body.shapes[0].X_BS * support(body.shapes[0].shape, Vector3::UnitZ());
  EXPECT_NEAR_ABSOLUTE(tip, Vector3(0, 0, 3), 1e-12);
  ASSERT_EQ(body.visuals.size(), 2U);
  EXPECT_EQ(std::get<1>(body.visuals[0].geometry)->triangles.size(), 4U);
  EXPECT_EQ(body.visuals[0].X_BV.p, Vector3::UnitZ());
  EXPECT_NEAR(body_of(robot, "c").inertia.mass, 3.0, 1e-12);
  EXPECT_NEAR_ABSOLUTE(body_of(robot, "c").inertia.center, Vector3(0.5, 0.5, 0.5), 1e-12);
}

TEST(MjcfReader, ContactBitsMeetAsTheyDoThere) {
  // there one direction is enough: a meets b, b meets c, a does not meet c, c meets itself
  const Robot robot = read_world(R"(
    <body name='a'><geom size='1' contype='1' conaffinity='0' friction='.3 .1 .1'/></body>
    <body name='b'><geom size='1' contype='2' conaffinity='1'/></body>
    <body name='c'><geom size='1' contype='4' conaffinity='6'/></body>
    <body name='d'><geom size='1' contype='0' conaffinity='0'/></body>)");
  const auto collide = [&](const char* first, const char* second) {
    const CollisionShape& a = body_of(robot, first).shapes[0];
    const CollisionShape& b = body_of(robot, second).shapes[0];
    return (a.group & b.mask) != 0 && (b.group & a.mask) != 0;
  };
  EXPECT_TRUE(collide("a", "b"));
  EXPECT_TRUE(collide("b", "c"));
  EXPECT_TRUE(collide("c", "c"));
  EXPECT_FALSE(collide("a", "c"));
  EXPECT_FALSE(collide("a", "a"));
  EXPECT_FALSE(collide("b", "b"));
  EXPECT_TRUE(body_of(robot, "d").shapes.empty());
  EXPECT_EQ(body_of(robot, "d").visuals.size(), 1U);
  EXPECT_EQ(body_of(robot, "a").shapes[0].friction, 0.3);
  EXPECT_EQ(body_of(robot, "b").shapes[0].friction, 1.0);
  // where both directions agree, the numbers stay
  const Robot plain = read_world("<body name='a'><geom size='1' contype='3' conaffinity='-1'/></body>");
  EXPECT_EQ(body_of(plain, "a").shapes[0].group, 3U);
  EXPECT_EQ(body_of(plain, "a").shapes[0].mask, 0xffffffffU);
}

TEST(MjcfReader, ColorsAndGroups) {
  const Robot robot = read(R"(<asset><material name='red' rgba='1 0 0 1'/></asset><worldbody><body name='b'>
    <geom size='1' material='red'/><geom size='1' rgba='0 1 0 .5'/><geom size='1'/><geom size='1' group='3'/>
    </body></worldbody>)");
  const BodySpec& body = body_of(robot, "b");
  EXPECT_EQ(body.shapes.size(), 4U);
  ASSERT_EQ(body.visuals.size(), 3U);  // those of group 3 are not drawn
  EXPECT_EQ(body.visuals[0].color, Vector4(1, 0, 0, 1));
  EXPECT_EQ(body.visuals[1].color, Vector4(0, 1, 0, 0.5));
  EXPECT_EQ(body.visuals[2].color, Vector4(0.5, 0.5, 0.5, 1));
}

// includes
// ---------------------------------------------------------------------------------------------------------------------

TEST(MjcfReader, IncludedFiles) {
  const test::TemporaryFolder folder;
  folder.write("parts/arm.xml",
               "<mujocoinclude><body name='arm'><geom size='.1'/><include file='joint.xml'/></body>"
               "</mujocoinclude>");
  folder.write("joint.xml", "<mujoco>\n<joint name='elbow' odd='1'/></mujoco>");
  const Robot robot = load_mjcf(folder.write(
      "main.xml", "<mujoco model='whole'><worldbody><include file='parts/arm.xml'/></worldbody></mujoco>"));
  EXPECT_EQ(robot.model.name(), "whole");
  EXPECT_EQ(robot.model.joint(0).spec.name, "elbow");
  ASSERT_EQ(robot.notices.size(), 1U);
  EXPECT_EQ(to_string(robot.notices[0]), (folder.path() / "joint.xml").string() +
                                             ":2: mujoco/joint[elbow].odd: this attribute is not used, got '1'");
}

// actuators, equalities, keyframes
// ---------------------------------------------------------------------------------------------------------------------

TEST(MjcfReader, Actuators) {
  const Robot robot = read(R"(
    <default><motor ctrlrange='-1 1'/><position kp='50'/></default>
    <worldbody><body><joint name='a'/><joint name='b' axis='1 0 0'/><geom size='.1'/></body>
      <body><joint name='c' type='ball'/><geom size='.1'/></body></worldbody>
    <actuator>
      <motor name='m' joint='a' gear='40' forcerange='-3 4'/>
      <position name='p' joint='b' kv='2'/>
      <velocity name='v' joint='b' kv='3' ctrllimited='false'/>
      <general joint='a' gainprm='5' biastype='none'/>
      <general name='gp' joint='a' gainprm='5' biastype='affine' biasprm='0 -5 -.5'/>
      <general name='gv' joint='a' gainprm='5' biastype='affine' biasprm='0 0 -5'/>
      <motor name='mc' joint='c' gear='0 2 0'/>
      <general name='affine' joint='a' gainprm='5' biastype='affine' biasprm='1 -4 -.5'/>
      <general name='other' joint='a' dyntype='integrator'/>
      <motor name='t' tendon='t'/>
      <muscle name='mu' joint='a'/>
    </actuator>)");
  using Kind = Actuator::Kind;
  ASSERT_EQ(robot.actuators.size(), 8U);
  const auto expect = [&](int i, const char* name, Kind kind, int dof, double gear, double gain, double damping) {
    const Actuator& actuator = robot.actuators[i];
    EXPECT_EQ(actuator.name, name);
    EXPECT_EQ(actuator.kind, kind) << name;
    EXPECT_EQ(actuator.dof, dof) << name;
    EXPECT_EQ(actuator.gear, gear) << name;
    EXPECT_EQ(actuator.gain, gain) << name;
    EXPECT_EQ(actuator.damping, damping) << name;
  };
  expect(0, "m", Kind::motor, 0, 40, 1, 0);
  expect(1, "p", Kind::position, 1, 1, 50, 2);
  expect(2, "v", Kind::velocity, 1, 1, 3, 0);
  expect(3, "a", Kind::motor, 0, 1, 5, 0);
  expect(4, "gp", Kind::position, 0, 1, 5, 0.5);
  expect(5, "gv", Kind::velocity, 0, 1, 5, 0);
  expect(6, "mc", Kind::motor, 3, 2, 1, 0);
  expect(7, "affine", Kind::affine, 0, 1, 5, 0.5);
  EXPECT_EQ(robot.actuators[7].bias, 1.0);
  EXPECT_EQ(robot.actuators[7].stiffness, 4.0);
  EXPECT_EQ(robot.actuators[0].lower_control, -1.0);
  EXPECT_EQ(robot.actuators[0].upper_force, 4.0);
  EXPECT_EQ(robot.actuators[2].upper_control, Actuator::kInfinity);
  ASSERT_EQ(robot.notices.size(), 3U);
  EXPECT_NE(robot.notices[0].text.find("has dynamics, or a gain or bias that is not affine"), std::string::npos);
  EXPECT_NE(robot.notices[1].text.find("acts on a tendon"), std::string::npos);
  EXPECT_EQ(robot.notices[2].element, "mujoco/actuator/muscle[mu]");
}

TEST(MjcfReader, ContactAndEquality) {
  const Robot robot = read(R"(
    <worldbody>
      <body name='a' pos='1 0 0'><joint name='ja' ref='10'/><geom size='.1'/></body>
      <body name='b' pos='0 2 0' euler='0 0 90'><joint name='jb'/><geom size='.1'/></body>
    </worldbody>
    <contact><exclude body1='b' body2='a'/><pair geom1='x' geom2='y'/></contact>
    <equality>
      <weld name='w' body1='a' body2='b'/> <weld body1='a' relpose='1 2 3 0 1 0 0'/>
      <connect body1='a' body2='b' anchor='0 0 1'/> <connect body1='a' body2='b' anchor='0 0 1' active='false'/>
      <joint joint1='ja' joint2='jb' polycoef='.1 2'/>
    </equality>)");
  const Model& model = robot.model;
  ASSERT_EQ(model.excluded_pairs().size(), 1U);
  EXPECT_EQ(model.excluded_pairs()[0], std::pair(0, 1));
  ASSERT_EQ(model.constraints().size(), 3U);
  EXPECT_EQ(model.constraints()[0].kind, LoopConstraint::Kind::weld);
  EXPECT_NEAR_ABSOLUTE(model.constraints()[0].X_AC.p, Vector3(-1, 2, 0), 1e-14);
  EXPECT_NEAR_ABSOLUTE(model.constraints()[0].X_AC.R, so3::exp({0, 0, 90 * kDegree}), 1e-14);
  EXPECT_EQ(model.constraints()[1].body_B, kWorld);
  EXPECT_NEAR_ABSOLUTE(model.constraints()[1].X_AC.p, Vector3(1, 2, 3), 1e-14);
  EXPECT_NEAR_ABSOLUTE(model.constraints()[2].X_BC.p, Vector3(-2, -1, 1), 1e-14);
  const std::optional<Mimic>& mimic = model.joint(0).spec.mimic;
  ASSERT_TRUE(mimic);
  EXPECT_EQ(mimic->source, "jb");
  EXPECT_EQ(mimic->multiplier, 2.0);
  EXPECT_NEAR(mimic->offset, 0.1 + 10 * kDegree, 1e-15);
  EXPECT_EQ(robot.notices.size(), 2U);  // the pair without its geoms, and the loop that is not active
}

TEST(MjcfReader, KeyframesInOurCoordinates) {
  const Robot robot = read(R"(
    <worldbody><body><freejoint/><geom size='.1'/><body><joint type='ball'/><geom size='.1'/></body>
      <body><joint name='h'/><geom size='.1'/></body></body></worldbody>
    <actuator><motor tendon='x'/><motor joint='h'/></actuator>
    <keyframe>
      <key name='k' qpos='1 2 3 -2 0 0 -2 .5 .5 .5 -.5 7' qvel='1 0 0 0 0 1 1 2 3 4' ctrl='8 9'/><key/>
    </keyframe>)");
  ASSERT_EQ(robot.keyframes.size(), 2U);
  const Keyframe& key = robot.keyframes[0];
  VectorX q(12);
  const double h = std::sqrt(0.5);
  q << 1, 2, 3, 0, 0, h, h, 0.5, 0.5, -0.5, 0.5, 7;
  EXPECT_NEAR_ABSOLUTE(key.q, q, 1e-15);
  // turned by a quarter about z: the world's x is the body's -y
  VectorX v(10);
  v << 0, -1, 0, 0, 0, 1, 1, 2, 3, 4;
  EXPECT_NEAR_ABSOLUTE(key.v, v, 1e-15);
  EXPECT_EQ(key.control, VectorX::Constant(1, 9.0));
  EXPECT_EQ(robot.keyframes[1].name, "key1");
  EXPECT_EQ(robot.keyframes[1].q[6], 1.0);
}

TEST(MjcfReader, NothingIsDroppedWithoutANotice) {
  const std::string text = R"(<mujoco>
    <option timestep='.01' integrator='RK4' gravity='0 0 -1'/>
    <size njmax='100'/>
    <worldbody>
      <light pos='0 0 1'/>
      <body name='b' mocap='true' gravcomp='1'><site name='s'/><camera/>
        <geom size='.1' condim='1' type='sphere'/><geom type='hfield' hfield='h'/></body>
      <composite count='3'><geom size='1'/></composite>
    </worldbody>
    <tendon/> <sensor/>
  </mujoco>)";
  const Robot robot = mjcf_from_text(text);
  EXPECT_EQ(robot.model.gravity(), Vector3(0, 0, -1));
  std::vector<std::string> texts;
  for (const Notice& notice : robot.notices) texts.push_back(to_string(notice));
  const std::string unused_attribute = ": this attribute is not used, got ";
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "model.xml:6: mujoco/worldbody/body[b]: mocap has no effect: nothing moves this body from "
                       "outside",
                       "model.xml:6: mujoco/worldbody/body[b].gravcomp" + unused_attribute + "'1'",
                       "model.xml:8: mujoco/worldbody/composite: this element is not used",
                       "model.xml:10: mujoco/tendon: this element is not used",
                       "model.xml:7: mujoco/worldbody/body[b]/geom: geoms of type hfield are not read: this one is "
                       "left out",
                       "model.xml:7: mujoco/worldbody/body[b]/geom.condim" + unused_attribute + "'1'",
                       "model.xml:5: mujoco/worldbody/light: this element is not used",
                       "model.xml:6: mujoco/worldbody/body[b]/camera: this element is not used",
                       "model.xml:2: mujoco/option.integrator" + unused_attribute + "'RK4'",
                       "model.xml:3: mujoco/size: this element is not used",
                       "model.xml:10: mujoco/sensor: this element is not used",
                   }));
  try {
    (void)mjcf_from_text(text, "model.xml", {.search_paths = {}, .strict = true});
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), texts[0] + " (strict; 11 notices in all)");
  }
}

// robots of others
// ---------------------------------------------------------------------------------------------------------------------

TEST(MjcfRobots, Humanoid) {
  const std::filesystem::path file = test::robot_file("mjcf/humanoid.xml");
  if (file.empty()) GTEST_SKIP() << "MuJoCo's humanoid.xml is not at hand (TANGERE_ROBOTS)";
  const Robot robot = load_robot(file);
  EXPECT_EQ(robot.model.name(), "Humanoid");
  EXPECT_EQ(robot.model.nq(), 28);
  EXPECT_EQ(robot.model.nv(), 27);
  EXPECT_EQ(robot.actuators.size(), 21U);
  // the numbers that MuJoCo 2.2.2 has
  EXPECT_NEAR(robot.model.total_mass(), 40.84402122, 1e-7);
  EXPECT_NEAR(body_of(robot, "head").inertia.mass, 4.0 / 3.0 * std::numbers::pi * 0.729, 1e-9);
  const DofSpec& knee = robot.model.dofs()[robot.model.joint(robot.model.joint_index("knee_right")).first_v];
  EXPECT_NEAR(knee.lower, -160 * kDegree, 1e-15);
  EXPECT_EQ(knee.stiffness, 1.0);
  EXPECT_EQ(knee.armature, 0.01);
  EXPECT_EQ(robot.keyframes.size(), 5U);
  EXPECT_EQ(robot.keyframes[1].name, "squat");
  EXPECT_NEAR(robot.keyframes[1].q[6], 0.988015, 1e-6);
}

TEST(MjcfRobots, Car) {
  const std::filesystem::path file = test::robot_file("mjcf/car.xml");
  if (file.empty()) GTEST_SKIP() << "MuJoCo's car.xml is not at hand (TANGERE_ROBOTS)";
  const Robot robot = load_robot(file);
  EXPECT_EQ(robot.model.nv(), 8);
  // the chassis is the hull of its points: 0.4158 kg, and a front wheel of 15 mm
  EXPECT_NEAR(body_of(robot, "car").inertia.mass, 0.4158 + 4.0 / 3.0 * std::numbers::pi * 0.003375, 1e-9);
  EXPECT_EQ(robot.model.dofs()[6].effort, 0.5);
  EXPECT_EQ(robot.model.dofs()[7].damping, 0.03);
}

}  // namespace
}  // namespace tangere
