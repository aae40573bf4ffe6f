#include "tangere/io/robot/urdf_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>

#include "tangere/geometry/bounds.hpp"
#include "tangere/geometry/mesh_hull.hpp"
#include "tangere/io/robot/urdf_reader.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tangere {
namespace {

void expect_same(const Pose& a, const Pose& b) {
  EXPECT_NEAR_ABSOLUTE(a.R, b.R, 1e-12);
  EXPECT_NEAR_ABSOLUTE(a.p, b.p, 1e-12);
}

void expect_same(const Shape& a, const Shape& b) {
  EXPECT_EQ(a.type_name(), b.type_name());
  EXPECT_EQ(a.parameters(), b.parameters());
}

void expect_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_EQ(a.num_bodies(), b.num_bodies());
  for (int i = 0; i < a.num_bodies(); ++i) {
    const BodySpec& body = a.body(i).spec;
    const BodySpec& other = b.body(i).spec;
    EXPECT_EQ(body.name, other.name);
    EXPECT_EQ(a.body(i).parent, b.body(i).parent);
    EXPECT_EQ(body.inertia.mass, other.inertia.mass);
    EXPECT_EQ(body.inertia.center, other.inertia.center);
    EXPECT_NEAR_ABSOLUTE(body.inertia.inertia, other.inertia.inertia, 1e-12);
    ASSERT_EQ(body.shapes.size(), other.shapes.size());
    for (std::size_t k = 0; k < body.shapes.size(); ++k) {
      EXPECT_EQ(body.shapes[k].name, other.shapes[k].name);
      expect_same(body.shapes[k].shape, other.shapes[k].shape);
      expect_same(body.shapes[k].X_BS, other.shapes[k].X_BS);
    }
    ASSERT_EQ(body.visuals.size(), other.visuals.size());
    for (std::size_t k = 0; k < body.visuals.size(); ++k) {
      expect_same(std::get<Shape>(body.visuals[k].geometry), std::get<Shape>(other.visuals[k].geometry));
      expect_same(body.visuals[k].X_BV, other.visuals[k].X_BV);
      EXPECT_EQ(body.visuals[k].color, other.visuals[k].color);
    }
    const JointSpec& joint = a.joint(i).spec;
    const JointSpec& twin = b.joint(i).spec;
    EXPECT_EQ(joint.name, twin.name);
    EXPECT_EQ(joint.type, twin.type);
    expect_same(joint.X_PJ, twin.X_PJ);
    if (a.joint(i).nv > 0 && joint.type != JointType::free) {
      EXPECT_NEAR_ABSOLUTE(joint.axis.normalized(), twin.axis.normalized(), 1e-12);
    }
    EXPECT_EQ(a.joint(i).mimic_source, b.joint(i).mimic_source);
  }
  ASSERT_EQ(a.nv(), b.nv());
  for (std::size_t v = 0; v < a.dofs().size(); ++v) {
    const DofSpec& dof = a.dofs()[v];
    const DofSpec& other = b.dofs()[v];
    EXPECT_EQ(dof.lower, other.lower);
    EXPECT_EQ(dof.upper, other.upper);
    EXPECT_EQ(dof.effort, other.effort);
    EXPECT_EQ(dof.velocity, other.velocity);
    EXPECT_EQ(dof.damping, other.damping);
    EXPECT_EQ(dof.friction, other.friction);
  }
}

Pose random_pose(Random& random) {
  const auto vector = [&] { return Vector3(random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(-2, 2)); };
  return {so3::exp(vector()), vector()};
}

BodySpec random_body(const std::string& name, Random& random) {
  BodySpec body;
  body.name = name;
  body.inertia = mass_properties(Box{{random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)}});
  const Pose X = random_pose(random);
  body.inertia.center = X.p;
  body.inertia.inertia = (X.R * body.inertia.inertia * X.R.transpose()).eval();
  body.inertia.inertia = (0.5 * (body.inertia.inertia + body.inertia.inertia.transpose())).eval();
  for (const Shape& shape :
       {Shape(Box{{1, 2, 0.1}}), Shape(Sphere{0.3}), Shape(Cylinder{0.3, 0.7}), Shape(Capsule{0.1, 3})}) {
    body.shapes.push_back(
        {name + " & \"more\" <" + std::to_string(body.shapes.size()) + ">", shape, random_pose(random)});
    body.visuals.push_back({"", shape, random_pose(random), {0.1, 0.2, 0.3, 0.4}});
  }
  return body;
}

/// Every type that URDF has, on branches.
Model everything(JointType root, const std::string& root_name) {
  Random random(3);
  ModelBuilder builder("a <robot>");
  builder.add_body(random_body("base", random), {.name = root_name, .type = root});
  DofSpec dof{.lower = -1.0 / 3.0, .upper = 2.0, .velocity = 3.0, .effort = 4.0, .damping = 0.5, .friction = 0.25};
  const auto add = [&](const std::string& name, JointSpec joint, int parent) {
    joint.name = name + "_joint";
    joint.X_PJ = random_pose(random);
    joint.axis = Vector3(random.uniform(-1, 1), 1, random.uniform(-1, 1)).normalized();
    return builder.add_body(random_body(name, random), joint, parent);
  };
  const int a = add("a", {.type = JointType::revolute, .dofs = {dof}}, 0);
  const int b = add("b", {.type = JointType::prismatic, .dofs = {dof}}, a);
  add("c", {.type = JointType::fixed}, b);
  dof.lower = -DofSpec::kInfinity;
  dof.upper = DofSpec::kInfinity;
  const int d = add("d", {.type = JointType::revolute, .dofs = {dof}, .mimic = Mimic{"a_joint", 2.0, -0.1}}, 0);
  add("e", {.type = JointType::planar, .dofs = {DofSpec{.damping = 0.5}}}, d);
  add("f", {.type = JointType::free}, d);
  return builder.build();
}

TEST(UrdfWriter, ThereAndBack) {
  for (const JointType root : {JointType::fixed, JointType::free}) {
    const Model model = everything(root, "root_joint");
    const std::string text = to_urdf({model, {}, {}, {}});
    const Robot back = urdf_from_text(text, "r.urdf", {.base = root == JointType::free ? Base::free : Base::fixed});
    EXPECT_TRUE(back.notices.empty()) << to_string(back.notices.front());
    expect_same(model, back.model);
    // a root with another name hangs from a link `world`
    const Model named = everything(root, "anchor");
    expect_same(named, urdf_from_text(to_urdf({named, {}, {}, {}})).model);
  }
}

/// Meshes are files beside the robot's, hulls come back as what they were.
TEST(UrdfWriter, MeshesThereAndBack) {
  const auto drawn = std::make_shared<const TriangleMesh>(mesh(Capsule{0.1, 0.3}));
  const MeshHull hull = hull_of_mesh(mesh(Cylinder{0.2, 0.5}, {.resolution = 12}));
  const Pose X(so3::exp({0.1, 0.2, 0.3}), {1, 2, 3});
  ModelBuilder builder("r");
  BodySpec body{.name = "a/b <1>", .inertia = mass_properties(Sphere{0.2})};
  body.shapes.push_back({"hull", hull.shape, X});
  body.visuals.push_back({"", drawn, X});
  body.visuals.push_back({"again", drawn, Pose()});
  builder.add_body(body, {.name = "root_joint"});
  const Robot robot{builder.build(), {}, {}, {}};

  const test::TemporaryFolder folder;
  const auto file = folder.path() / "robot.urdf";
  save_urdf(robot, file);
  const Robot back = load_urdf(file);
  EXPECT_TRUE(back.notices.empty()) << to_string(back.notices.front());
  const BodySpec& read = back.model.body(0).spec;
  ASSERT_EQ(read.shapes.size(), 1u);
  ASSERT_EQ(read.visuals.size(), 2u);
  // faces may come in another order: the same body, by its mass and its reach
  const MassProperties given = mass_properties(hull.shape, 1.0);
  const MassProperties came = mass_properties(read.shapes[0].shape, 1.0);
  EXPECT_NEAR(came.mass, given.mass, 1e-12 * given.mass);
  EXPECT_NEAR_ABSOLUTE(came.inertia, given.inertia, 1e-12 * given.mass);
  EXPECT_NEAR_ABSOLUTE(read.shapes[0].X_BS.p, X.p, 1e-12);
  const Aabb before = bounds(hull.shape, X);
  const Aabb after = bounds(read.shapes[0].shape, read.shapes[0].X_BS);
  EXPECT_NEAR_ABSOLUTE(before.lower, after.lower, 1e-12);
  EXPECT_NEAR_ABSOLUTE(before.upper, after.upper, 1e-12);
  // one file for the one drawing
  const auto first = std::get<std::shared_ptr<const TriangleMesh>>(read.visuals[0].geometry);
  EXPECT_EQ(first, std::get<std::shared_ptr<const TriangleMesh>>(read.visuals[1].geometry));
  EXPECT_EQ(first->triangles.size(), drawn->triangles.size());
  EXPECT_EQ(first->vertices.size(), drawn->vertices.size());
  expect_same(read.visuals[0].X_BV, X);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() / "robot_meshes"), {}), 2);
  // a text has no files beside it
  EXPECT_THROW((void)to_urdf(robot), InputError);
  EXPECT_THROW(save_urdf(robot, folder.path() / "none" / "x" / std::string(300, 'n')), InputError);
}

/// Other readers want effort and velocity wherever there is a limit.
TEST(UrdfWriter, LimitsAreWhole) {
  ModelBuilder builder("r");
  DofSpec dof;
  dof.lower = -1.0;
  dof.upper = 1.0;
  builder.add_body({.name = "a", .inertia = {1.0, Vector3::Zero(), Matrix3::Identity()}},
                   {.name = "j", .type = JointType::revolute, .axis = {0, 0, 1}, .dofs = {dof}});
  const std::string text = to_urdf({builder.build(), {}, {}, {}});
  EXPECT_NE(text.find("effort="), std::string::npos) << text;
  EXPECT_NE(text.find("velocity="), std::string::npos) << text;
  const Robot back = urdf_from_text(text, "r.urdf");
  EXPECT_EQ(back.model.dofs()[0].effort, std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.model.dofs()[0].velocity, std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.model.dofs()[0].upper, 1.0);
}

/// Of a prismatic joint without them the format would read zeros.
TEST(UrdfWriter, LimitsOfEffortWithoutThoseOfPosition) {
  ModelBuilder builder("r");
  DofSpec dof;
  dof.effort = 3.0;
  builder.add_body({.name = "a", .inertia = {1.0, Vector3::Zero(), Matrix3::Identity()}},
                   {.name = "j", .type = JointType::prismatic, .axis = {0, 0, 1}, .dofs = {dof}});
  const Robot back = urdf_from_text(to_urdf({builder.build(), {}, {}, {}}), "r.urdf");
  EXPECT_EQ(back.model.dofs()[0].effort, 3.0);
  EXPECT_EQ(back.model.dofs()[0].lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.model.dofs()[0].upper, std::numeric_limits<double>::infinity());
}

TEST(UrdfWriter, RotationsNearARightAngleOfPitch) {
  for (const double off : {0.0, 1e-15, 1e-9, 1e-6, 1e-3, -1e-7}) {
    ModelBuilder builder("r");
    const Matrix3 R = so3::exp({0, 0, 0.7}) * so3::exp({0, std::numbers::pi / 2 + off, 0}) * so3::exp({-1.1, 0, 0});
    builder.add_body({.name = "a"}, {.name = "j", .X_PJ = Pose(R, Vector3::Zero())});
    const Model model = builder.build();
    expect_same(model, urdf_from_text(to_urdf({model, {}, {}, {}})).model);
  }
}

TEST(UrdfWriter, SaysWhatUrdfCannot) {
  const auto error_of = [](const std::function<void(BodySpec&, JointSpec&)>& change) {
    BodySpec body{.name = "b", .inertia = mass_properties(Sphere{0.1})};
    JointSpec joint{.name = "j", .type = JointType::revolute, .dofs = {DofSpec{}}};
    change(body, joint);
    ModelBuilder builder("r");
    builder.add_body(body, joint);
    try {
      (void)to_urdf({builder.build(), {}, {}, {}});
    } catch (const InputError& error) {
      return error.field();
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of([](BodySpec&, JointSpec&) {}), "no error");
  EXPECT_EQ(error_of([](BodySpec&, JointSpec& j) { j.type = JointType::ball; }), "j");
  EXPECT_EQ(error_of([](BodySpec&, JointSpec& j) { j.dofs[0].stiffness = 1; }), "j.stiffness");
  EXPECT_EQ(error_of([](BodySpec&, JointSpec& j) { j.dofs[0].armature = 1; }), "j.armature");
  EXPECT_EQ(error_of([](BodySpec&, JointSpec& j) { j.dofs[0].lower = 0; }), "j.limits");
  EXPECT_EQ(error_of([](BodySpec&, JointSpec& j) { j.X_CJ.p.x() = 1; }), "j.X_CJ");
  EXPECT_EQ(error_of([](BodySpec& b, JointSpec&) { b.shapes.push_back({"cone", Cone{1, 0.5}, Pose()}); }), "b.cone");
  EXPECT_EQ(error_of([](BodySpec& b, JointSpec&) {
              b.shapes.push_back({"", Sphere{1}, Pose(), 0.5});
            }),
            "b.sphere.friction");
  EXPECT_EQ(error_of([](BodySpec& b, JointSpec&) {
              CollisionShape shape{"", Sphere{1}, Pose()};
              shape.group = 2;
              shape.mask = 1;
              b.shapes.push_back(shape);
            }),
            "b.sphere.group");
  // groups and masks by which all collide
  EXPECT_EQ(error_of([](BodySpec& b, JointSpec&) {
              CollisionShape shape{"", Sphere{1}, Pose()};
              shape.mask = 1;
              b.shapes.push_back(shape);
            }),
            "no error");
  const auto drawn = std::make_shared<const TriangleMesh>(mesh(Sphere{1}));
  EXPECT_EQ(error_of([&](BodySpec& b, JointSpec&) { b.visuals.push_back({"", drawn, Pose()}); }), "b.visual");
  ModelBuilder builder("r");
  builder.add_body({.name = "b"}, {.name = "j"});
  EXPECT_NE(to_urdf({builder.build(), {}, {}, {}, 0.25}).find("<!-- left out: the time step of 0.25 s -->"),
            std::string::npos);
  builder.set_gravity({0, 0, -1});
  EXPECT_THROW((void)to_urdf({builder.build(), {}, {}, {}}), InputError);
}

}  // namespace
}  // namespace tangere
