/// Scenes: the files of scenes/, bodies and robots together, and bad input.

#include "tangere/io/scene_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tangere::test {
namespace {

const std::filesystem::path kScenes = scenes_folder();

TEST(Scenes, OfTheProjectLoadWithoutNotices) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kScenes)) {
    if (entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().string());
    const Scene scene = load_scene(entry.path(), {.strict = true});
    EXPECT_GT(scene.robot.model.nv(), 0);
    EXPECT_EQ(scene.q.size(), scene.robot.model.nq());
    EXPECT_EQ(scene.v.size(), scene.robot.model.nv());
    ++count;
  }
  EXPECT_GE(count, 12);
}

TEST(Scenes, HaveTheirPublishedSizes) {
  const auto nv = [](const char* name) { return load_scene(kScenes / name).robot.model.nv(); };
  EXPECT_EQ(nv("jump_worm.xml"), 5);
  EXPECT_EQ(nv("catapult.xml"), 5);
  EXPECT_EQ(nv("half_cheetah.xml"), 9);
  EXPECT_EQ(nv("humanoid.xml"), 33);
  EXPECT_EQ(nv("cartpole.xml"), 2);
  EXPECT_EQ(nv("double_cartpole.xml"), 3);
  EXPECT_EQ(nv("drone.xml"), 1);
  const Scene worm = load_scene(kScenes / "jump_worm.xml");
  EXPECT_EQ(worm.time_step, 0.001);
  EXPECT_NEAR(worm.q[4], 0.785398163397448, 1e-12);
  EXPECT_EQ(worm.robot.actuators.size(), 3u);
  EXPECT_NEAR(load_scene(kScenes / "humanoid.xml").robot.model.total_mass(), 146.254, 1e-9);
}

constexpr const char* kTwo = R"({
  "format": "tangere-scene", "version": 1, "name": "two", "gravity": [0, 0, -1.62], "time_step": 0.002,
  "bodies": [
    {"name": "floor", "fixed": true, "shape": {"type": "halfspace", "normal": [0, 0, 1]}, "friction": 0.5},
    {"name": "crate", "shape": {"type": "box", "size": [1, 1, 1]}, "mass": 3, "position": [0, 0, 2],
     "quaternion": [0, 0, 0.7071067811865476, 0.7071067811865476], "velocity": [1, 0, 0, 0, 2, 0]},
    {"name": "dumbbell", "density": 500, "shapes": [
      {"shape": {"type": "sphere", "radius": 0.1}, "position": [0.3, 0, 0], "restitution": 0.8},
      {"shape": {"type": "sphere", "radius": 0.1}, "position": [-0.3, 0, 0]}]}
  ],
  "robots": [
    {"file": "arm.urdf", "name": "left", "position": [0, 1, 0], "q": [0.1, 0.2, 0.3, 0, 0, 0]},
    {"file": "arm.urdf", "name": "right", "position": [0, -1, 0]},
    {"file": "humanoid.xml", "position": [5, 0, 1], "keyframe": "stand"}
  ]
})";

TEST(Scenes, BodiesAndRobotsInOneWorld) {
  const Scene scene = scene_from_text(kTwo, kScenes / "two.json");
  const Model& model = scene.robot.model;
  EXPECT_EQ(model.name(), "two");
  EXPECT_EQ(model.gravity(), Vector3(0, 0, -1.62));
  EXPECT_EQ(scene.time_step, 0.002);
  EXPECT_EQ(model.nv(), 6 + 6 + 6 + 6 + 33);
  EXPECT_EQ(model.body(model.body_index("crate")).spec.inertia.mass, 3.0);
  EXPECT_NEAR(model.body(model.body_index("dumbbell")).spec.inertia.mass, 500.0 * 2.0 * 4.18879020479e-3, 1e-9);
  EXPECT_EQ(model.body(model.body_index("dumbbell")).spec.shapes[0].restitution, 0.8);
  EXPECT_EQ(model.body(model.body_index("floor")).spec.shapes[0].friction, 0.5);
  Data data(model);
  forward_kinematics(model, data, scene.q, scene.v);
  EXPECT_NEAR_ABSOLUTE(body_pose(model, data, model.body_index("crate")).p, Vector3(0, 0, 2), 1e-12);
  Vector6 velocity;
  velocity << 1, 0, 0, 0, 2, 0;
  EXPECT_NEAR_ABSOLUTE(body_velocity(model, data, model.body_index("crate")), velocity, 1e-12);
  EXPECT_NEAR_ABSOLUTE(body_pose(model, data, model.body_index("right/shoulder")).p, Vector3(0, -1, 0.1), 1e-12);
  EXPECT_EQ(scene.q[model.joint(model.joint_index("left/elbow")).first_q], 0.3);
  EXPECT_NEAR_ABSOLUTE(body_pose(model, data, model.body_index("pelvis")).p, Vector3(5, 0, 1), 1e-12);
  // actuators act on the joints they did
  for (const Actuator& actuator : scene.robot.actuators) EXPECT_EQ(model.dof_name(actuator.dof), actuator.name);
  EXPECT_EQ(scene.robot.actuators.size(), 27u);
}

/// What a robot does not collide with stays what it was among the scene's other bodies.
TEST(Scenes, KeepExclusions) {
  const Scene scene = scene_from_text(kTwo, kScenes / "two.json");
  const Model& model = scene.robot.model;
  const Scene alone = load_scene(kScenes / "humanoid.xml");
  const int offset = model.body_index("pelvis") - alone.robot.model.body_index("pelvis");
  std::size_t found = 0;
  for (const auto& [A, B] : model.excluded_pairs()) {
    EXPECT_TRUE(A == kWorld || A < B);
    if (B < offset) continue;
    ++found;
    EXPECT_TRUE(A == kWorld || A >= offset) << model.body(A).spec.name << " and " << model.body(B).spec.name;
  }
  EXPECT_EQ(found, alone.robot.model.excluded_pairs().size());
}

/// A robot with a motor, a weld, gravity and a time step.
std::string robot_text(const std::string& option) {
  return "<mujoco><option " + option + R"(/><worldbody><body name='a'><joint name='j'/><geom size='.1'/></body>
    <body name='b'><joint name='k'/><geom size='.1'/></body></worldbody>
    <equality><weld name='w' body1='a' body2='b'/></equality>
    <actuator><motor name='m' joint='j'/></actuator></mujoco>)";
}

constexpr const char* kHead = R"({"format": "tangere-scene", "version": 1, )";

TEST(Scenes, OfTheRobotsGravityAndTimeStepTheFirstCounts) {
  const TemporaryFolder folder;
  folder.write("first.xml", robot_text("gravity='0 0 -1' timestep='.01'"));
  folder.write("second.xml", robot_text("gravity='0 0 -2' timestep='.02'"));
  const auto notices = [&](const std::string& own) {
    const std::string text =
        kHead + own + R"("robots": [{"file": "first.xml", "name": "1"}, {"file": "second.xml", "name": "2"}]})";
    const Scene scene = scene_from_text(text, folder.path() / "scene.json");
    return std::count_if(scene.robot.notices.begin(), scene.robot.notices.end(),
                         [](const Notice& notice) { return notice.element == "robots[1]"; });
  };
  EXPECT_EQ(notices(""), 2);
  EXPECT_EQ(notices(R"("gravity": [0, 0, 0], )"), 1);
  EXPECT_EQ(notices(R"("gravity": [0, 0, 0], "time_step": 1, )"), 0);
}

/// As in MuJoCo one way is enough: the floor sees the ball, whatever the ball sees, and robots each other.
TEST(Scenes, ContactBitsAreSettledOverTheWholeScene) {
  const TemporaryFolder folder;
  const auto ball = [&](const char* file, const std::string& bits) {
    folder.write(file,
                 "<mujoco><worldbody><body><freejoint/><geom size='.1' " + bits + "/></body></worldbody></mujoco>");
  };
  const auto meet = [&](const char* first, const char* second) {
    const std::string text = kHead + std::string(R"("bodies": [{"name": "floor", "fixed": true,
      "shape": {"type": "halfspace", "normal": [0, 0, 1]}}], "robots": [{"file": "1.xml", "name": "1"}, {"file": "2.xml", "name": "2"}]})");
    const Scene scene = scene_from_text(text, folder.path() / "scene.json", {.strict = true});
    const auto shape = [&](const char* name) {
      const auto bodies = scene.robot.model.bodies();
      return std::find_if(bodies.begin(), bodies.end(),
                          [&](const Body& body) { return body.spec.name.starts_with(name); })
          ->spec.shapes[0];
    };
    const CollisionShape a = shape(first);
    const CollisionShape b = shape(second);
    EXPECT_EQ((a.group & b.mask) != 0, (b.group & a.mask) != 0);
    return (a.group & b.mask) != 0;
  };
  ball("1.xml", "conaffinity='0'");
  ball("2.xml", "contype='0' conaffinity='2'");
  EXPECT_TRUE(meet("floor", "1/"));
  EXPECT_FALSE(meet("floor", "2/"));
  EXPECT_FALSE(meet("1/", "2/"));
  ball("1.xml", "contype='2' conaffinity='0'");
  EXPECT_TRUE(meet("floor", "1/"));
  EXPECT_TRUE(meet("1/", "2/"));
}

TEST(Scenes, NamesOfActuatorsAndConstraintsAreTakenOnce) {
  const TemporaryFolder folder;
  folder.write("motor.xml", robot_text(""));
  folder.write("other.xml", R"(<mujoco><worldbody><body name='c'><joint name='l'/><geom size='.1'/></body></worldbody>
    <actuator><motor name='m' joint='l'/></actuator></mujoco>)");
  const auto load = [&](const std::string& name) {
    (void)scene_from_text(kHead + (R"("robots": [{"file": "motor.xml"}, {"file": "other.xml")" + name) + "}]}",
                          folder.path() / "scene.json");
  };
  EXPECT_NO_THROW(load(R"(, "name": "o")"));
  try {
    load("");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.reason(), "another robot has the actuator 'm' already: give the robots names");
    EXPECT_NE(error.field().find("robots[1]"), std::string::npos) << error.what();
  }
}

/// Where nothing else is said.
TEST(Scenes, MimicsStartWhereTheyFollow) {
  const TemporaryFolder folder;
  const auto file =
      folder.write("mimic.urdf", R"(<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/>
    <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><link name='c'><inertial><mass value='1'/>
    <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
    <joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>
    <joint name='k' type='continuous'><parent link='b'/><child link='c'/><mimic joint='j' offset='.5'/></joint></robot>)");
  EXPECT_EQ(load_scene(file).q, Eigen::Vector2d(0.0, 0.5));
  const auto start = [&](const std::string& more) {
    return scene_from_text(kHead + (R"("robots": [{"file": "mimic.urdf")" + more) + "}]}", folder.path() / "scene.json")
        .q;
  };
  EXPECT_EQ(start(""), Eigen::Vector2d(0.0, 0.5));
  EXPECT_EQ(start(R"(, "q": [1, 1.5])"), Eigen::Vector2d(1.0, 1.5));
}

TEST(Scenes, BadInputIsNamed) {
  struct Bad {
    const char* text;
    const char* told;
  };
  const Bad cases[] = {
      {"{", "bad.json:1"},
      {"{\n\"format\": \"tangere-scene\",\n\"version\" 1}", "bad.json:3"},
      {R"({"format": "scene", "version": 1})", "format"},
      {R"({"format": "tangere-scene", "version": 2})", "version"},
      {R"({"format": "tangere-scene", "version": 1, "wind": 3})", "wind"},
      {R"({"format": "tangere-scene", "version": 1, "time_step": 0})", "time_step"},
      {R"({"format": "tangere-scene", "version": 1, "bodies": [{"name": "a"}]})", "bodies[0]"},
      {R"({"format": "tangere-scene", "version": 1, "bodies": [{"name": "a", "mass": -1,
          "shape": {"type": "sphere", "radius": 1}}]})",
       "bodies[0]"},
      {R"({"format": "tangere-scene", "version": 1, "bodies": [{"name": "a", "shape": {"type": "sphere"}}]})",
       "bodies[0].shape.radius"},
      {R"({"format": "tangere-scene", "version": 1, "bodies": [{"name": "a", "shape": {"type": "sphere", "radius": 1}},
          {"name": "a", "shape": {"type": "sphere", "radius": 1}}]})",
       "bodies[1]"},
      {R"({"format": "tangere-scene", "version": 1, "bodies": [{"name": "a", "fixed": true, "velocity": [0,0,0,0,0,0],
          "shape": {"type": "sphere", "radius": 1}}]})",
       "bodies[0].velocity"},
      {R"({"format": "tangere-scene", "version": 1, "robots": [{"file": "nobody.urdf"}]})", "robots[0].file"},
      {R"({"format": "tangere-scene", "version": 1, "bodies": [{"name": "a", "mass": 1e999}]})", "bodies[0].mass"},
      {"[]", "bad.json:1: must be an object"},
      {R"({"format": "tangere-scene", "version": 1, "robots": [{"file": "arm.urdf", "q": [1]}]})", "robots[0].q"},
      {R"({"format": "tangere-scene", "version": 1, "robots": [{"file": "arm.urdf", "base": "free",
          "q": [0,0,0, 0,0,0,0, 0,0,0,0,0,0]}]})",
       "robots[0].q"},
      {R"({"format": "tangere-scene", "version": 1, "robots": [{"file": "arm.urdf"}, {"file": "arm.urdf"}]})",
       "robots[1]"},
      {R"({"format": "tangere-scene", "version": 1, "robots": [{"file": "humanoid.xml", "keyframe": "fly"}]})",
       "robots[0].keyframe"},
  };
  for (const Bad& bad : cases) {
    try {
      (void)scene_from_text(bad.text, kScenes / "bad.json");
      FAIL() << bad.text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(bad.told), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.json"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW((void)load_scene(kScenes / "nothing.json"), InputError);
}

/// The line is that of the value, or of the nearest thing around it that is there.
TEST(Scenes, BadInputHasALine) {
  const auto told = [](const std::string& bodies) -> std::string {
    const std::string text = "{\"format\": \"tangere-scene\",\n\"version\": 1,\n\"bodies\": [\n" + bodies + "]}\n";
    try {
      (void)scene_from_text(text, "bad.json");
      return "";
    } catch (const InputError& error) {
      return error.field();
    }
  };
  const std::string good = R"({"name": "a", "shape": {"type": "box", "size": [1, 1, 1]}},)";
  // a number at the end of its line, one inside a list, a word
  EXPECT_EQ(told(good + "\n{\"name\": \"b\",\n\"shape\": {\"type\": \"sphere\", \"radius\":\n-1\n}}"),
            "bad.json:7: bodies[1].shape.radius");
  EXPECT_EQ(told("{\"name\": \"b\", \"shape\": {\"type\": \"box\", \"size\": [1,\n1,\n0]}}"),
            "bad.json:6: bodies[0].shape.size[2]");
  EXPECT_EQ(told(good + "\n\n{\"name\": 3\n}"), "bad.json:6: bodies[1].name");
  // something missing, something unknown, something twice, something too large
  EXPECT_EQ(told(good + "\n{\"name\": \"b\",\n\"shape\":\n{\"type\": \"sphere\"}}"),
            "bad.json:7: bodies[1].shape.radius");
  EXPECT_EQ(told("{\"name\": \"b\",\n\"weight\": 3}"), "bad.json:5: bodies[0].weight");
  EXPECT_EQ(told("{\"name\": \"b\",\n\"mass\": 3,\n\"mass\": 4\n}"), "bad.json:6: bodies[0].mass");
  EXPECT_EQ(told("{\"name\": \"b\",\n\"mass\": 1e999\n}"), "bad.json:5: bodies[0].mass");
}

}  // namespace
}  // namespace tangere::test
