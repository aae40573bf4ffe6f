/// Wrong units get a notice; robots and scenes as they are get none.

#include "tangere/io/robot/internal/unit_check.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tangere/io/robot/urdf_reader.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/math/error.hpp"
#include "tests/support/robot_files.hpp"

namespace tangere::test {
namespace {

/// A box of steel, 8 x 6 x 4 cm, in the units asked for: a length of 1 m and a mass of 1 kg in these.
BodySpec block(double metre, double kilogram, double inertia) {
  const Vector3 size = metre * Vector3(0.08, 0.06, 0.04);
  const Box real{Vector3(0.08, 0.06, 0.04)};
  MassProperties properties = mass_properties(real, 7800.0);
  properties.mass *= kilogram;
  properties.inertia *= inertia;
  BodySpec body{.name = "block", .inertia = properties};
  body.shapes.push_back({"", Box{size}, Pose()});
  return body;
}

TEST(UnitCheck, WrongUnits) {
  const auto told = [](const BodySpec& body, const char* what) {
    const std::string remark = internal::unit_remark(body);
    EXPECT_NE(remark.find(what), std::string::npos) << remark;
  };
  EXPECT_EQ(internal::unit_remark(block(1, 1, 1)), "");
  told(block(1000, 1, 1), "millimetres");
  told(block(1000, 1, 1e6), "millimetres");
  told(block(1, 1000, 1000), "grams");
  told(block(1, 1000, 1), "grams");
  told(block(1, 1, 1e6), "kg m²");
  BodySpec apart = block(1, 1, 1);
  apart.inertia.center = {30, 0, 0};
  told(apart, "centre of mass");
}

/// What people write in place of what they do not know, and what is unusual but so.
TEST(UnitCheck, NoFalseAlarms) {
  const auto silent = [](const Shape& shape, double mass, const Vector3& inertia) {
    BodySpec body{.name = "b", .inertia = {mass, Vector3::Zero(), inertia.asDiagonal()}};
    body.shapes.push_back({"", shape, Pose()});
    EXPECT_EQ(internal::unit_remark(body), "");
  };
  silent(Sphere{0.01}, 1e-6, Vector3::Constant(1e-9));
  silent(Sphere{0.1}, 1.0, Vector3::Constant(1.0));
  silent(Sphere{0.02}, 4.0, Vector3(0.05, 0.05, 0.001));      // a foot is all that collides of a leg
  silent(Box{{1500, 5, 0.05}}, 1.0, Vector3::Constant(1.0));  // a floor
  silent(Capsule{0.01, 40.0}, 100.0, Vector3(1.0, 13333, 13333));
  silent(HalfSpace{{0, 0, 1}, 0}, 1.0, Vector3::Constant(1.0));
  silent(Sphere{0.5}, 11000.0, Vector3::Constant(1100.0));  // a wrecking ball
}

TEST(UnitCheck, NoticeHasThePlace) {
  const std::string text = R"(<robot name="r">
<link name="a"><collision><geometry><box size="80 60 40"/></geometry></collision>
<inertial><mass value="1.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>)";
  const Robot robot = urdf_from_text(text, "r.urdf");
  ASSERT_EQ(robot.notices.size(), 1u);
  EXPECT_EQ(robot.notices[0].line, 3);
  EXPECT_NE(robot.notices[0].text.find("millimetres"), std::string::npos);
  const std::string scene = R"({"format": "tangere-scene", "version": 1, "bodies": [
{"name": "a",
"shape": {"type": "box", "size": [80, 60, 40]}, "mass": 1.5}]})";
  const std::vector<Notice> notices = scene_from_text(scene, "s.json").robot.notices;
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(to_string(notices[0]).rfind("s.json:2: bodies[0]: its shapes are 80 m long", 0), 0u)
      << to_string(notices[0]);
  EXPECT_THROW((void)scene_from_text(scene, "s.json", {.strict = true}), InputError);
}

/// (Our own scenes have no notices at all: scene_file_test.cpp.)
TEST(UnitCheck, RobotsOfOthersAreNotSuspected) {
  const std::filesystem::path folder = robot_file("");
  if (folder.empty()) GTEST_SKIP() << "no robots here (../shared/robots or TANGERE_ROBOTS)";
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".urdf" && entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path().string());
    const Robot robot = load_robot(entry.path());
    for (const Body& body : robot.model.bodies()) EXPECT_EQ(internal::unit_remark(body.spec), "") << body.spec.name;
    ++count;
  }
  EXPECT_GE(count, 11);
}

}  // namespace
}  // namespace tangere::test
