/// What elements of MJCF take from their default classes.

#include <gtest/gtest.h>

#include <numbers>

#include "tangere/io/robot/mjcf_reader.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

Robot read(const std::string& inside) { return mjcf_from_text("<mujoco>" + inside + "</mujoco>"); }

const BodySpec& body_of(const Robot& robot, std::string_view name) {
  return robot.model.body(robot.model.body_index(name)).spec;
}

TEST(MjcfDefaults, DefaultClassesNest) {
  const Robot robot = read(R"(
    <default><geom size='1'/><joint damping='1'/>
      <default class='big'><geom size='2' friction='.2'/>
        <default class='huge'><geom size='3'/></default></default></default>
    <worldbody>
      <body name='a'><joint name='ja'/><geom/><geom class='big'/><geom class='huge'/><geom class='huge' size='4'/></body>
      <body name='b' childclass='big'><geom/><geom class='huge'/><geom class='main'/><body name='c'><geom/></body></body>
    </worldbody>)");
  const auto radii = [&](const char* name) {
    std::vector<double> all;
    for (const CollisionShape& shape : body_of(robot, name).shapes) all.push_back(shape.shape.get_if<Sphere>()->radius);
    return all;
  };
  EXPECT_EQ(radii("a"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(radii("b"), (std::vector<double>{2, 3, 1}));
  EXPECT_EQ(radii("c"), (std::vector<double>{2}));
  EXPECT_EQ(body_of(robot, "a").shapes[2].friction, 0.2);
  EXPECT_EQ(robot.model.dofs()[0].damping, 1.0);
  EXPECT_TRUE(robot.notices.empty());
}

TEST(MjcfDefaults, TheClassAtTheTopMayHaveAnyName) {
  const Robot robot =
      read(R"(<default class='top'><geom size='2'/><default class='main'><geom size='3'/></default></default>
    <worldbody><geom/><geom class='top'/><geom class='main'/></worldbody>)");
  const std::vector<CollisionShape>& shapes = body_of(robot, "worldbody").shapes;
  for (const auto& [i, radius] : {std::pair{0, 2.0}, {1, 2.0}, {2, 3.0}})
    EXPECT_EQ(shapes[i].shape.get_if<Sphere>()->radius, radius);
}

TEST(MjcfDefaults, NumbersThatAreNotGivenAreThoseOfTheClass) {
  const Robot robot = read(R"(
    <default><geom type='box' size='.05 .3 .2'/><motor gear='2 3 0'/></default>
    <worldbody><body name='b'><joint name='j' type='ball'/>
      <geom type='capsule' size='.1'/><geom size='.1 .4'/><geom/></body></worldbody>
    <actuator><motor joint='j' gear='0'/></actuator>)");
  const std::vector<CollisionShape>& shapes = body_of(robot, "b").shapes;
  EXPECT_EQ(shapes[0].shape.get_if<Capsule>()->radius, 0.1);
  EXPECT_EQ(shapes[0].shape.get_if<Capsule>()->length, 0.6);
  EXPECT_EQ(shapes[1].shape.get_if<Box>()->size, Vector3(0.2, 0.8, 0.4));
  EXPECT_EQ(shapes[2].shape.get_if<Box>()->size, Vector3(0.1, 0.6, 0.4));
  ASSERT_EQ(robot.actuators.size(), 1U);
  EXPECT_EQ(robot.actuators[0].gear, 3.0);
  EXPECT_EQ(robot.actuators[0].dof, 1);
}

TEST(MjcfDefaults, EulerOfAClassGoesBeforeAQuaternion) {
  const Robot robot = read(R"(
    <default><geom type='box' size='.1 .2 .3' euler='0 0 30'/>
      <default class='quat'><geom quat='1 0 1 0'/></default></default>
    <worldbody><body name='b'><geom quat='1 1 0 0'/><geom zaxis='1 0 0'/><geom class='quat'/></body></worldbody>)");
  const std::vector<CollisionShape>& shapes = body_of(robot, "b").shapes;
  EXPECT_NEAR_ABSOLUTE(shapes[0].X_BS.R, so3::exp({0, 0, 30 * kDegree}), 1e-15);
  EXPECT_NEAR_ABSOLUTE(Vector3(shapes[1].X_BS.R.col(2)), Vector3::UnitX(), 1e-15);
  EXPECT_NEAR_ABSOLUTE(shapes[2].X_BS.R, so3::exp({0, 0, 30 * kDegree}), 1e-15);
  // what does not count is said
  ASSERT_EQ(robot.notices.size(), 1U);
  EXPECT_EQ(robot.notices[0].element, "mujoco/worldbody/body[b]/geom.quat");
}

TEST(MjcfDefaults, KindsOfActuatorsShareTheirDefaults) {
  // what MuJoCo makes of the same files: 2.2.2, and 3 where a position servo has damping (earlier ones do not know it)
  using Kind = Actuator::Kind;
  struct Expected {
    Kind kind;
    double gain;
    double damping;
  };
  const auto expect = [](const char* defaults, const char* actuators, const std::vector<Expected>& expected) {
    const Robot robot = read(std::string("<default>") + defaults + "</default><worldbody><body><joint name='j'/>" +
                             "<geom size='.1'/></body></worldbody><actuator>" + actuators + "</actuator>");
    EXPECT_TRUE(robot.notices.empty());
    ASSERT_EQ(robot.actuators.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(robot.actuators[i].kind, expected[i].kind) << defaults << i;
      EXPECT_EQ(robot.actuators[i].gain, expected[i].gain) << defaults << i;
      EXPECT_EQ(robot.actuators[i].damping, expected[i].damping) << defaults << i;
    }
  };
  const char* each = "<motor joint='j'/><position joint='j'/><velocity joint='j'/><general joint='j'/>";
  expect("<general gainprm='7'/>", each,
         {{Kind::motor, 1, 0}, {Kind::position, 7, 0}, {Kind::velocity, 7, 0}, {Kind::motor, 7, 0}});
  expect("<position kp='50'/>", each,
         {{Kind::motor, 1, 0}, {Kind::position, 50, 0}, {Kind::velocity, 50, 0}, {Kind::position, 50, 0}});
  expect("<velocity kv='3'/>", "<position joint='j' kp='9'/><general joint='j'/>",
         {{Kind::position, 9, 3}, {Kind::velocity, 3, 0}});
  expect("<position kp='5' kv='2'/><default class='c'><general gainprm='6'/></default>",
         "<position joint='j' class='c'/><position joint='j' class='c' kp='0'/><velocity joint='j' kv='0'/>",
         {{Kind::position, 6, 2}, {Kind::position, 0, 2}, {Kind::velocity, 0, 0}});
}

}  // namespace
}  // namespace tangere
