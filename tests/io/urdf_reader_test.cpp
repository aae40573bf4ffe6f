#include "tangere/io/robot/urdf_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "tangere/io/mesh_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/robot_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tangere {
namespace {

using test::TemporaryFolder;

std::string robot(const std::string& inside) { return "<robot name=\"r\">\n" + inside + "\n</robot>\n"; }

const std::string kInertial =
    R"(<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>)";

/// A link with mass.
std::string link(const std::string& name, const std::string& more = "") {
  return "<link name=\"" + name + "\">" + kInertial + more + "</link>\n";
}

std::string joint(const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
                  const std::string& more = "") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent + "\"/><child link=\"" + child +
         "\"/>" + more + "</joint>\n";
}

/// Links a and b with a joint j between them.
std::string pair(const std::string& type, const std::string& more = "") {
  return robot(link("a") + link("b") + joint("j", type, "a", "b", more));
}

std::string error_of(const std::string& text, const LoadOptions& options = {.strict = true}) {
  try {
    (void)urdf_from_text(text, "r.urdf", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_HAS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

bool has_notice(const Robot& robot, int line, const std::string& text) {
  for (const Notice& notice : robot.notices)
    if ((line == 0 || notice.line == line) && to_string(notice).find(text) != std::string::npos) return true;
  return false;
}

// what is read
// ---------------------------------------------------------------------------------------------------------------------

TEST(Urdf, JointTypes) {
  const std::string limit = R"(<limit lower="-1" upper="2" effort="3" velocity="4"/>)";
  const Robot r = urdf_from_text(
      robot(link("base") + link("a") + link("b") + link("c") + link("d") + link("e") + link("f") +
            joint("ja", "fixed", "base", "a") + joint("jb", "revolute", "a", "b", limit) +
            joint("jc", "continuous", "b", "c", R"(<limit effort="5" velocity="6"/>)") +
            joint("jd", "prismatic", "c", "d", limit + R"(<dynamics damping="0.1" friction="0.2"/>)") +
            joint("je", "floating", "d", "e") + joint("jf", "planar", "e", "f", R"(<axis xyz="0 0 1"/>)")));
  EXPECT_TRUE(r.notices.empty()) << to_string(r.notices.front());
  const Model& model = r.model;
  ASSERT_EQ(model.num_bodies(), 7);
  EXPECT_EQ(model.name(), "r");
  EXPECT_EQ(model.nq(), 1 + 1 + 1 + 7 + 3);
  EXPECT_EQ(model.nv(), 1 + 1 + 1 + 6 + 3);
  const JointType types[] = {JointType::fixed,     JointType::fixed, JointType::revolute, JointType::revolute,
                             JointType::prismatic, JointType::free,  JointType::planar};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(model.joint(i).spec.type, types[i]) << i;
  EXPECT_EQ(model.joint(0).spec.name, "root_joint");
  const auto dof = [&](const char* name) { return model.dofs()[model.joint(model.joint_index(name)).first_v]; };
  EXPECT_EQ(dof("jb").lower, -1.0);
  EXPECT_EQ(dof("jb").upper, 2.0);
  EXPECT_EQ(dof("jb").effort, 3.0);
  EXPECT_EQ(dof("jb").velocity, 4.0);
  EXPECT_TRUE(std::isinf(dof("jc").lower) && std::isinf(dof("jc").upper));
  EXPECT_EQ(dof("jc").effort, 5.0);
  EXPECT_EQ(dof("jd").damping, 0.1);
  EXPECT_EQ(dof("jd").friction, 0.2);
  EXPECT_EQ(model.joint(2).spec.axis, Vector3::UnitX());  // the default
  EXPECT_EQ(model.joint(6).spec.axis, Vector3::UnitZ());
}

/// As many files have it.
TEST(Urdf, InfiniteLimitsAreNone) {
  const auto dof = [](const std::string& limit) {
    const Robot r = urdf_from_text(pair("revolute", "<limit " + limit + "/>"));
    EXPECT_TRUE(r.notices.empty()) << to_string(r.notices.front());
    return r.model.dofs()[0];
  };
  const DofSpec none = dof(R"(lower="-inf" upper="Infinity" effort="inf" velocity="INF")");
  for (const double limit : {-none.lower, none.upper, none.effort, none.velocity}) EXPECT_EQ(limit, DofSpec::kInfinity);
  // the largest double says the same
  const DofSpec far = dof(R"(lower="-1.79769e308" upper="1.79769e308" effort="1.79769e308" velocity="1")");
  EXPECT_TRUE(std::isinf(far.lower) && std::isinf(far.upper) && std::isinf(far.effort));
  const DofSpec half = dof(R"(lower="-1" upper="inf" effort="3")");
  EXPECT_EQ(half.lower, -1.0);
  EXPECT_EQ(half.upper, DofSpec::kInfinity);
  EXPECT_EQ(half.effort, 3.0);
  EXPECT_HAS(error_of(pair("revolute", R"(<limit effort="-inf"/>)")), "limit.effort: must not be negative");
  EXPECT_HAS(error_of(pair("revolute", R"(<limit effort="nan"/>)")), "limit.effort: must be a number or inf");
  EXPECT_HAS(error_of(pair("revolute", R"(<limit lower="inf" upper="inf"/>)")), "limit.lower: must not exceed upper");
}

TEST(Urdf, OriginIsRollPitchYaw) {
  const Robot r = urdf_from_text(pair("fixed", R"(<origin xyz="1 2 3" rpy="0.1 -0.2 0.3"/>)"));
  const Pose& X = r.model.joint(1).spec.X_PJ;
  EXPECT_EQ(X.p, Vector3(1, 2, 3));
  const Matrix3 R = so3::exp({0, 0, 0.3}) * so3::exp({0, -0.2, 0}) * so3::exp({0.1, 0, 0});
  EXPECT_NEAR_ABSOLUTE(X.R, R, 1e-15);
}

TEST(Urdf, InertialFrameIsTurned) {
  const Robot r = urdf_from_text(robot(R"(<link name="a"><inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
    <mass value="2"/><inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0.1" iyz="0"/></inertial></link>)"));
  const MassProperties& inertia = r.model.body(0).spec.inertia;
  EXPECT_EQ(inertia.mass, 2.0);
  EXPECT_EQ(inertia.center, Vector3(1, 2, 3));
  Matrix3 expected;
  expected << 2, 0, 0, 0, 1, 0.1, 0, 0.1, 2.5;
  EXPECT_NEAR_ABSOLUTE(inertia.inertia, expected, 1e-15);
}

TEST(Urdf, Geometry) {
  const Robot r = urdf_from_text(robot(link("a", R"(
    <collision name="one"><geometry><box size="1 2 3"/></geometry></collision>
    <collision><origin xyz="0 0 1"/><geometry><cylinder radius="0.5" length="2"/></geometry></collision>
    <collision><geometry><capsule radius="0.5" length="2"/></geometry></collision>
    <collision><geometry><sphere radius="0.25"/></geometry></collision>
    <visual><geometry><sphere radius="2"/></geometry></visual>)")),
                                 "r.urdf", {.friction = 0.3, .restitution = 0.1});
  const BodySpec& body = r.model.body(0).spec;
  ASSERT_EQ(body.shapes.size(), 4);
  EXPECT_EQ(body.shapes[0].name, "one");
  EXPECT_EQ(body.shapes[0].friction, 0.3);
  EXPECT_EQ(body.shapes[0].restitution, 0.1);
  EXPECT_EQ(body.shapes[0].shape.get_if<Box>()->size, Vector3(1, 2, 3));
  // along z in the file, along x here
  EXPECT_EQ(body.shapes[1].shape.get_if<Cylinder>()->length, 2.0);
  EXPECT_EQ(body.shapes[1].X_BS * Vector3(1, 0, 0), Vector3(0, 0, 2));
  EXPECT_EQ(body.shapes[2].shape.get_if<Capsule>()->radius, 0.5);
  EXPECT_EQ(body.shapes[2].X_BS * Vector3(1, 0, 0), Vector3(0, 0, 1));
  EXPECT_EQ(body.shapes[3].shape.get_if<Sphere>()->radius, 0.25);
  ASSERT_EQ(body.visuals.size(), 1);
  EXPECT_EQ(std::get<Shape>(body.visuals[0].geometry).get_if<Sphere>()->radius, 2.0);
}

TEST(Urdf, Materials) {
  const auto visual = [](const std::string& material) {
    return "<visual><geometry><sphere radius=\"1\"/></geometry>" + material + "</visual>\n";
  };
  const Robot r =
      urdf_from_text(robot(link("a", visual(R"(<material name="red"/>)") + visual(R"(<material name="blue"/>)") +
                                         visual(R"(<material name=""><color rgba="0 1 0 0.5"/></material>)") +
                                         visual("") + visual(R"(<material name="none"/>)") +
                                         visual(R"(<material name="wood"><texture filename="wood.png"/></material>)")) +
                           R"(<material name="red"><color rgba="1 0 0 1"/></material>)" +
                           link("b", visual(R"(<material name="blue"><color rgba="0 0 1 1"/></material>)")) +
                           joint("j", "fixed", "a", "b")));
  const auto& visuals = r.model.body(0).spec.visuals;
  ASSERT_EQ(visuals.size(), 6);
  EXPECT_EQ(visuals[0].color, Vector4(1, 0, 0, 1));
  EXPECT_EQ(visuals[1].color, Vector4(0, 0, 1, 1));
  EXPECT_EQ(visuals[2].color, Vector4(0, 1, 0, 0.5));
  EXPECT_EQ(visuals[3].color, Vector4(0.7, 0.7, 0.7, 1));
  EXPECT_TRUE(has_notice(r, 0, "material[none]: there is no material of this name"));
  EXPECT_TRUE(has_notice(r, 0, "material[wood]/texture: this element is not used"));
  const std::string red = R"(<material name="red"><color rgba="1 0 0 1"/></material>)";
  EXPECT_TRUE(has_notice(urdf_from_text(robot(red + "\n" + red + link("a")), "r.urdf"), 3,
                         "material[red]: there is a material of this name already"));
  EXPECT_HAS(error_of(robot(link("a", visual(R"(<material name="x"><color rgba="0 0 2 1"/></material>)")))),
             "rgba: must be between 0 and 1");
}

TEST(Urdf, ParentsFirstAndSiblingsAsInTheFile) {
  const std::string links = link("d") + link("c") + link("b") + link("a") + link("e");
  const Robot r = urdf_from_text(robot(joint("j1", "fixed", "b", "c") + joint("j2", "fixed", "a", "e") +
                                       joint("j3", "fixed", "a", "b") + joint("j4", "fixed", "b", "d") + links));
  std::string order;
  for (const Body& body : r.model.bodies()) order += body.spec.name;
  EXPECT_EQ(order, "aebcd");
  EXPECT_EQ(r.model.body(3).parent, 2);
  EXPECT_EQ(r.model.joint(3).spec.name, "j1");
}

TEST(Urdf, Base) {
  const Robot free = urdf_from_text(pair("fixed"), "r.urdf", {.base = Base::free});
  EXPECT_EQ(free.model.nv(), 6);
  EXPECT_EQ(free.model.joint(0).spec.name, "root_joint");
  EXPECT_EQ(free.model.joint(0).spec.type, JointType::free);
  EXPECT_EQ(urdf_from_text(pair("fixed")).model.nv(), 0);

  // a root called world is the world
  const std::string text = robot("<link name=\"world\"/>\n" + link("a") + joint("j", "floating", "world", "a"));
  const Robot world = urdf_from_text(text);
  ASSERT_EQ(world.model.num_bodies(), 1);
  EXPECT_EQ(world.model.body(0).parent, kWorld);
  EXPECT_TRUE(world.notices.empty());
  EXPECT_TRUE(has_notice(urdf_from_text(text, "r.urdf", {.base = Base::free}), 2, "there is no base to be free"));
  // and what it has is on a body
  const Robot floor = urdf_from_text(
      robot("<link name=\"world\"><collision><geometry><box size=\"9 9 1\"/></geometry></collision></link>\n" +
            link("a") + joint("j", "floating", "world", "a")));
  ASSERT_EQ(floor.model.num_bodies(), 2);
  EXPECT_EQ(floor.model.body(0).spec.name, "world_link");
  EXPECT_EQ(floor.model.body(0).spec.shapes.size(), 1);
  EXPECT_EQ(floor.model.nv(), 6);
  EXPECT_HAS(error_of(robot(link("a") + link("world") + joint("j", "fixed", "a", "world"))),
             "only the root link can be the world");
}

TEST(Urdf, Mimic) {
  const std::string text = robot(link("a") + link("b") + link("c") + joint("j", "continuous", "a", "b") +
                                 joint("k", "continuous", "b", "c", R"(<mimic joint="j" multiplier="2" offset="3"/>)"));
  const Model model = urdf_from_text(text).model;
  EXPECT_EQ(model.joint(2).mimic_source, 1);
  EXPECT_EQ(model.joint(2).spec.mimic->multiplier, 2.0);
  EXPECT_EQ(model.joint(2).spec.mimic->offset, 3.0);
  EXPECT_HAS(error_of(pair("continuous", R"(<mimic joint="none"/>)")),
             "r.urdf:4: robot[r]/joint[j]/mimic.joint: there is no joint 'none'");
  EXPECT_HAS(error_of(pair("continuous", R"(<mimic joint="j"/>)")), "r.urdf:4: robot[r]/joint[j]: follows itself");
}

TEST(Urdf, NoticesForWhatIsNotUsed) {
  const Robot r = urdf_from_text(R"(<robot name="r" version="1.0" xmlns:xacro="http://ros.org/wiki/xacro" color="red">
<link name="a" type="x"/>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<calibration rising="0"/>
<safety_controller k_velocity="1"/>
<axis xyz="0 0 2"/>
<limit lower="-90" upper="90" effort="1" velocity="1"/>
</joint>
<transmission name="t"><type>x</type></transmission>
<gazebo reference="b"><mu1>1</mu1></gazebo>
</robot>)");
  EXPECT_TRUE(has_notice(r, 1, "color: this attribute is not used"));
  EXPECT_TRUE(has_notice(r, 2, "type: this attribute is not used"));
  EXPECT_TRUE(has_notice(r, 5, "calibration: this element is not used"));
  EXPECT_TRUE(has_notice(r, 6, "safety_controller"));
  EXPECT_TRUE(has_notice(r, 7, "not of unit length"));
  EXPECT_TRUE(has_notice(r, 8, "are these degrees?"));
  EXPECT_TRUE(has_notice(r, 10, "transmission[t]"));
  EXPECT_TRUE(has_notice(r, 11, "gazebo"));
  EXPECT_EQ(r.notices.size(), 8);
  EXPECT_EQ(r.model.joint(1).spec.axis, Vector3::UnitZ());
  EXPECT_HAS(error_of(pair("revolute"), {.strict = true}), "r.urdf:4: robot[r]/joint[j]: has no <limit>");
  EXPECT_HAS(error_of(pair("revolute"), {.strict = true}), "(strict; ");
  EXPECT_HAS(error_of(pair("revolute", R"(<limit effort="1" velocity="1"/>)"), {.strict = true}),
             "has neither lower nor upper: both are zero");
}

TEST(Urdf, PlaceholderInertia) {
  const Robot r = urdf_from_text(robot(R"(<link name="a"><inertial><mass value="1e-6"/>
<inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="1e-6" ixz="1e-6" iyz="1e-6"/></inertial></link>)"));
  EXPECT_TRUE(has_notice(r, 3, "six equal entries"));
  EXPECT_EQ(r.model.body(0).spec.inertia.inertia, Matrix3(1e-6 * Matrix3::Identity()));
}

// meshes
// ---------------------------------------------------------------------------------------------------------------------

const char* const kTetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

std::string with_mesh(const std::string& owner, const std::string& name, const std::string& more = "") {
  return robot(
      link("a", "\n<" + owner + "><geometry><mesh filename=\"" + name + "\"" + more + "/></geometry></" + owner + ">"));
}

TEST(Urdf, MeshesAreFound) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "my_robot" / "urdf" / "r.urdf";
  folder.write("my_robot/urdf/beside.obj", kTetrahedron);
  folder.write("my_robot/meshes/t.obj", kTetrahedron);
  folder.write("elsewhere/other/meshes/o.obj", kTetrahedron);
  folder.write("elsewhere/other/with space.obj", kTetrahedron);
  const LoadOptions options{.search_paths = {folder.path() / "elsewhere"}};
  for (const std::string& name :
       {std::string("beside.obj"), std::string("meshes/t.obj"), std::string("../meshes/t.obj"),
        std::string("package://my_robot/meshes/t.obj"), std::string("package://renamed/meshes/t.obj"),
        std::string("package://other/meshes/o.obj"), "file://" + (folder.path() / "my_robot/meshes/t.obj").string(),
        std::string("package://other/with%20space.obj")}) {
    const Robot r = urdf_from_text(with_mesh("collision", name, " scale=\"2 2 2\""), file, options);
    ASSERT_EQ(r.model.body(0).spec.shapes.size(), 1) << name;
    // about its centroid
    const CollisionShape& shape = r.model.body(0).spec.shapes[0];
    EXPECT_NEAR_ABSOLUTE(shape.X_BS.p, Vector3(0.5, 0.5, 0.5), 1e-12);
    EXPECT_NEAR(mass_properties(shape.shape, 1.0).mass, 8.0 / 6.0, 1e-12);
  }
  setenv("ROS_PACKAGE_PATH", ("/nowhere:" + (folder.path() / "elsewhere").string()).c_str(), 1);
  EXPECT_EQ(error_of(robot(link("a"))), "no error");
  EXPECT_NO_THROW((void)urdf_from_text(with_mesh("collision", "package://other/meshes/o.obj"), file));
  unsetenv("ROS_PACKAGE_PATH");
  // a file of some folder above may be another one
  EXPECT_TRUE(has_notice(
      urdf_from_text(with_mesh("collision", "meshes/t.obj"), file), 3,
      "there is no 'meshes/t.obj' beside the file: taken is " + (folder.path() / "my_robot/meshes/t.obj").string()));
  for (const char* name : {"beside.obj", "../meshes/t.obj", "package://my_robot/meshes/t.obj"})
    EXPECT_TRUE(urdf_from_text(with_mesh("collision", name), file).notices.empty()) << name;
  // drawn as it is
  const Robot r = urdf_from_text(with_mesh("visual", "beside.obj"), file);
  const auto& drawn = r.model.body(0).spec.visuals.at(0);
  EXPECT_EQ(std::get<std::shared_ptr<const TriangleMesh>>(drawn.geometry)->triangles.size(), 4);
}

TEST(Urdf, MissingMeshes) {
  const std::string missing =
      error_of(with_mesh("collision", "package://none/t.stl"), {.search_paths = {"/some/place"}});
  EXPECT_HAS(missing, "r.urdf:3: robot[r]/link[a]/collision/geometry/mesh: filename: there is no file");
  EXPECT_HAS(missing, "/some/place/none/t.stl");
  EXPECT_HAS(error_of(with_mesh("collision", "http://x/t.stl")), "must be a path, file://");
  EXPECT_HAS(error_of(with_mesh("collision", "")), "must not be empty");
  // there is a robot without the drawing
  const Robot r = urdf_from_text(with_mesh("visual", "none.stl"));
  EXPECT_TRUE(r.model.body(0).spec.visuals.empty());
  EXPECT_TRUE(has_notice(r, 3, "this visual is left out: filename: there is no file 'none.stl'"));

  const TemporaryFolder folder;
  folder.write("broken.stl", "solid\nfacet\n");
  folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  folder.write("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  const auto file = folder.path() / "r.urdf";
  const auto message = [&](const std::string& name) {
    try {
      (void)urdf_from_text(with_mesh("collision", name), file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_HAS(message("broken.stl"), "r.urdf:3: robot[r]/link[a]/collision/geometry/mesh: ");
  EXPECT_HAS(message("broken.stl"), "broken.stl:2: ends too early");
  EXPECT_HAS(message("line.obj"), "all vertices lie on a line");
  EXPECT_TRUE(has_notice(urdf_from_text(with_mesh("collision", "flat.obj"), file), 3, "the mesh is flat"));
}

// bad input
// ---------------------------------------------------------------------------------------------------------------------

TEST(Urdf, BadTrees) {
  EXPECT_EQ(error_of(robot(link("a") + link("b") + link("a"))),
            "r.urdf:4: robot[r]/link[a].name: there is a link of this name already, in line 2");
  EXPECT_EQ(error_of(robot(link("a") + link("b") + joint("j", "fixed", "a", "b") + joint("j", "fixed", "a", "b"))),
            "r.urdf:5: robot[r]/joint[j].name: there is a joint of this name already, in line 4");
  EXPECT_EQ(error_of(robot(link("a") + joint("j", "fixed", "none", "a"))),
            "r.urdf:3: robot[r]/joint[j]/parent.link: there is no link 'none'");
  EXPECT_EQ(error_of(robot(link("a") + joint("j", "fixed", "a", "none"))),
            "r.urdf:3: robot[r]/joint[j]/child.link: there is no link 'none'");
  EXPECT_HAS(error_of(robot(link("a") + link("b"))), "r.urdf:3: robot[r]/link[b]: no joint has this link as its child");
  EXPECT_HAS(error_of(robot(link("a") + link("b") + link("c") + joint("j", "fixed", "a", "c") +
                            joint("k", "fixed", "b", "c"))),
             "r.urdf:6: robot[r]/joint[k]: link 'c' is the child of joint 'j' already");
  EXPECT_HAS(error_of(robot(link("a") + link("b") + joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "a"))),
             "r.urdf:2: robot[r]/link[a]: every link is the child of a joint: they form a loop");
  EXPECT_HAS(error_of(robot(link("r") + link("a") + link("b") + joint("j", "fixed", "a", "b") +
                            joint("k", "fixed", "b", "a"))),
             "r.urdf:3: robot[r]/link[a]: does not hang from the root");
  EXPECT_HAS(error_of(robot(link("a") + joint("j", "fixed", "a", "a"))), "connects link 'a' with itself");
  EXPECT_HAS(error_of(robot("")), "r.urdf:1: robot[r]: has no links");
  EXPECT_HAS(error_of(robot(link(""))), "must not be empty");
  EXPECT_HAS(error_of("<robot/>"), "r.urdf:1: robot.name: is required");
  EXPECT_HAS(error_of("<robot name=\"r\"><link/></robot>"), "link.name: is required");
}

TEST(Urdf, BadJoints) {
  EXPECT_HAS(error_of(pair("hinge")), "r.urdf:4: robot[r]/joint[j].type: must be fixed, revolute,");
  EXPECT_HAS(error_of(pair("continuous", "<axis xyz=\"0 0 0\"/>")), "axis.xyz: must be a direction, got (0, 0, 0)");
  EXPECT_HAS(error_of(pair("continuous", "<axis xyz=\"0 0\"/>")), "axis.xyz: must be 3 numbers");
  EXPECT_HAS(error_of(pair("continuous", "<axis xyz=\"0 0 nan\"/>")), "axis.xyz: must be finite numbers, got 'nan'");
  EXPECT_HAS(error_of(pair("continuous", "<origin xyz=\"0 0 inf\"/>")), "origin.xyz: must be finite numbers");
  EXPECT_HAS(error_of(pair("revolute", "<limit lower=\"2\" upper=\"1\"/>")),
             "limit.lower: must not exceed upper, got 2 and 1");
  EXPECT_HAS(error_of(pair("revolute", "<limit effort=\"-2\"/>")), "limit.effort: must not be negative, got -2");
  EXPECT_HAS(error_of(pair("continuous", "<dynamics damping=\"-2\"/>")), "dynamics.damping: must not be negative");
  EXPECT_HAS(error_of(pair("continuous", "<dynamics damping=\"a\"/>")), "dynamics.damping: must be a finite number");
  EXPECT_HAS(error_of(robot(link("a") + "<link name=\"b\"/>\n" + joint("j", "continuous", "a", "b"))),
             "r.urdf:4: robot[r]/joint[j]: moves nothing that has inertia");
  EXPECT_HAS(error_of(robot(link("a") + "<joint name=\"j\" type=\"fixed\"/>")), "needs an element <parent>");
}

TEST(Urdf, BadLinks) {
  const auto inertial = [](const std::string& mass, const std::string& ixx) {
    return robot("<link name=\"a\">\n<inertial><mass value=\"" + mass + "\"/><inertia ixx=\"" + ixx +
                 "\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>");
  };
  EXPECT_HAS(error_of(inertial("-1", "1")), "r.urdf:3: robot[r]/link[a]/inertial/mass.value: must not be negative");
  EXPECT_HAS(error_of(inertial("nan", "1")), "mass.value: must be a finite number, got 'nan'");
  EXPECT_HAS(error_of(inertial("1", "3")),
             "r.urdf:3: robot[r]/link[a]/inertial: a.inertia: no body has these principal moments");
  EXPECT_HAS(error_of(inertial("1", "-1")), "a.inertia: must be positive");
  EXPECT_HAS(error_of(robot("<link name=\"a\"><inertial/></link>")), "needs an element <mass>");
  const auto collision = [](const std::string& inside) {
    return robot(link("a", "<collision>" + inside + "</collision>"));
  };
  EXPECT_HAS(error_of(collision("")), "r.urdf:2: robot[r]/link[a]/collision: needs an element <geometry>");
  EXPECT_HAS(error_of(collision("<geometry/>")), "needs a box, cylinder, sphere, capsule or mesh");
  EXPECT_HAS(error_of(collision("<geometry><torus/></geometry>")), "must be a box, cylinder, sphere, capsule or mesh");
  EXPECT_HAS(error_of(collision("<geometry><box size=\"1 1 1\"/><sphere radius=\"1\"/></geometry>")),
             "there is a geometry already");
  EXPECT_HAS(error_of(collision("<geometry><box size=\"1 0 1\"/></geometry>")),
             "r.urdf:2: robot[r]/link[a]/collision/geometry/box: box.size.y: must be positive and finite, got 0");
  EXPECT_HAS(error_of(collision("<geometry><sphere/></geometry>")), "sphere.radius: is required");
}

TEST(Urdf, BadFiles) {
  const std::string good = pair("continuous");
  // cut anywhere: an error with a line, never a crash
  for (std::size_t length = 0; length + 2 < good.size(); length += 3) {
    const std::string error = error_of(good.substr(0, length));
    EXPECT_TRUE(error.starts_with("r.urdf:")) << length << ": " << error;
  }
  EXPECT_HAS(error_of("<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n" + good), "entities are refused");
  std::string deep = "<robot name=\"r\">";
  for (int i = 0; i < 5000; ++i) deep += "<a>";
  EXPECT_HAS(error_of(deep), "r.urdf:1");
  // a chain of links, far longer than any stack
  std::string chain = link("l0");
  for (int i = 1; i < 3000; ++i) {
    const std::string name = "l" + std::to_string(i);
    chain += link(name) + joint("j" + std::to_string(i), "continuous", "l" + std::to_string(i - 1), name);
  }
  EXPECT_EQ(urdf_from_text(robot(chain)).model.nv(), 2999);

  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& file) {
    try {
      (void)load_robot(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_HAS(message(folder.path() / "none.urdf"), "none.urdf: there is no such file");
  EXPECT_HAS(message(folder.path()), "is not a file");
  EXPECT_HAS(message(folder.write("a.xml", "<sdf/>")), "a.xml:1: sdf: must be <robot> (URDF) or <mujoco> (MJCF)");
  const auto large = folder.write("large.urdf", good);
  std::filesystem::resize_file(large, std::uintmax_t{100} << 20);
  EXPECT_HAS(message(large), "must have at most 64 MB, has 100 MB");
}

// robots of others
// ---------------------------------------------------------------------------------------------------------------------

#define FIND_OR_SKIP(file, name)                             \
  const std::filesystem::path file = test::robot_file(name); \
  if (file.empty()) GTEST_SKIP() << "the robot " << (name) << " is not here"

TEST(SharedUrdf, Atlas) {
  FIND_OR_SKIP(file, "atlas/atlas_v3_no_head.urdf");
  const Model model = load_robot(file, {.base = Base::free}).model;
  EXPECT_EQ(model.nv(), 33);
  EXPECT_EQ(model.nq(), 34);
  EXPECT_NEAR(model.total_mass(), 146.55, 5e-3);
  int moving = 0;
  int shapes = 0;
  for (int i = 0; i < model.num_bodies(); ++i) {
    moving += model.joint(i).nv > 0 ? 1 : 0;
    shapes += static_cast<int>(model.body(i).spec.shapes.size());
    for (const CollisionShape& shape : model.body(i).spec.shapes) EXPECT_TRUE(shape.shape.get_if<Polytope>());
  }
  EXPECT_EQ(moving, 28);
  EXPECT_EQ(shapes, 29);
  EXPECT_EQ(model.body(0).spec.name, "pelvis");
}

TEST(SharedUrdf, AtlasWithBoxes) {
  FIND_OR_SKIP(file, "atlas/atlas_v3_box_colliders.urdf");
  const Model model = load_robot(file, {.base = Base::free}).model;
  EXPECT_EQ(model.nv(), 33);
  EXPECT_NEAR(model.total_mass(), 146.55, 5e-3);
}

TEST(SharedUrdf, SimpleHumanoid) {
  FIND_OR_SKIP(file, "simple_humanoid_description/urdf/simple_humanoid.urdf");
  EXPECT_EQ(load_robot(file).model.nv(), 29);
}

TEST(SharedUrdf, Quadruped) {
  FIND_OR_SKIP(file, "quadruped_description/urdf/quadruped.urdf");
  EXPECT_EQ(load_robot(file, {.base = Base::free}).model.nv(), 14);
}

TEST(SharedUrdf, DoublePendulum) {
  FIND_OR_SKIP(file, "double_pendulum_description/urdf/double_pendulum.urdf");
  EXPECT_EQ(load_robot(file).model.nv(), 2);
}

TEST(SharedUrdf, Hyq) {
  FIND_OR_SKIP(file, "hyq_description/robots/hyq_no_sensors.urdf");
  // its meshes are COLLADA files
  if (is_mesh_file("a.dae")) {
    EXPECT_EQ(load_robot(file, {.base = Base::free}).model.nv(), 18);
    return;
  }
  try {
    (void)load_robot(file, {.base = Base::free});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("TANGERE_ASSIMP"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tangere
