#include "tests/support/planner_worlds.hpp"

#include <algorithm>
#include <utility>

#include "tangere/io/scene_file.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

bool may_meet(const CollisionShape& A, const CollisionShape& B) {
  return (A.group & B.mask) != 0 && (B.group & A.mask) != 0;
}

Pose shape_pose(const World& world, const Data& data, int shape) {
  const SceneShape& at = world.scene().shapes()[shape];
  return body_pose(world.model(), data, at.body) * world.scene().shape(world.model(), shape).X_BS;
}

double value_of(const World& world, const Data& data, int a, int b, ClearanceMetric metric) {
  static thread_local DistanceWorkspace distances;
  static thread_local ScalingWorkspace scalings;
  const Shape& A = world.scene().shape(world.model(), a).shape;
  const Shape& B = world.scene().shape(world.model(), b).shape;
  const Pose X_WA = shape_pose(world, data, a);
  const Pose X_WB = shape_pose(world, data, b);
  if (metric == ClearanceMetric::distance) return distance(A, X_WA, B, X_WB, {}, distances).distance;
  return scaling(A, X_WA, B, X_WB, {.tolerance = 1e-11}, scalings).alpha;
}

}  // namespace

Model with_obstacles(const Model& model, int count, const Vector3& low, const Vector3& high, double size,
                     Random& random) {
  ModelBuilder builder(model);
  const auto& types = bounded_types();
  for (int i = 0; i < count; ++i) {
    const std::string name = "obstacle" + std::to_string(i);
    const Shape shape = random_shape(types[i % types.size()], random, size);
    Vector3 at;
    for (int k = 0; k < 3; ++k) at[k] = random.uniform(low[k], high[k]);
    builder.add_body({.name = name, .shapes = {{.name = name, .shape = shape}}},
                     {.name = name, .X_PJ = Pose(random.rotation(), at)});
  }
  return builder.build();
}

std::vector<PlannerWorld> planner_worlds(int num_obstacles, std::uint64_t seed) {
  std::vector<PlannerWorld> out;
  Random random(seed);
  const std::pair<const char*, Base> robots[] = {
      {"arm.urdf", Base::fixed}, {"two_arms.json", Base::fixed}, {"arm.urdf", Base::free}};
  for (const auto& [file, base] : robots) {
    const Scene scene = load_scene(scenes_folder() / file, {.base = base});
    Model model = with_obstacles(scene.robot.model, num_obstacles, {-0.9, -0.9, 0.0}, {0.9, 0.9, 1.2}, 0.3, random);
    ModelBuilder builder(model);
    const Shape shelf = Bundle{{{Box{{0.6, 0.3, 0.02}}, Pose()},
                                {Box{{0.6, 0.02, 0.4}}, Pose::translation({0.0, 0.15, 0.2})},
                                {Sphere{0.08}, Pose::translation({0.2, 0.0, 0.1})}}};
    builder.add_body({.name = "shelf", .shapes = {{.name = "shelf", .shape = shelf}}},
                     {.name = "shelf", .X_PJ = Pose::translation({0.5, 0.5, 0.4})});
    builder.add_body({.name = "ground", .shapes = {{.name = "ground", .shape = HalfSpace{Vector3::UnitZ(), -0.3}}}},
                     {.name = "ground"});
    out.push_back({base == Base::free ? "floating arm" : file, World(builder.build())});
  }
  return out;
}

VectorX planner_configuration(const World& world, Random& random) {
  VectorX q = random_configuration(world.model(), random);
  // robots that float, among the obstacles
  for (const Joint& joint : world.model().joints()) {
    if (joint.spec.type != JointType::free || world.free_dofs().size() > 1) continue;
    q.segment<3>(joint.first_q) = 0.6 * q.segment<3>(joint.first_q) + Vector3(0.0, 0.0, 0.6);
  }
  return q;
}

std::vector<PlainPair> plain_pairs(const World& world, const VectorX& q, ClearanceMetric metric) {
  const Model& model = world.model();
  Data data(model);
  forward_kinematics(model, data, q);
  std::vector<PlainPair> out;
  const int count = static_cast<int>(world.scene().shapes().size());
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      if (!may_meet(world.scene().shape(model, a), world.scene().shape(model, b))) continue;
      if (!model.may_collide(world.scene().shapes()[a].body, world.scene().shapes()[b].body)) continue;
      out.push_back({a, b, value_of(world, data, a, b, metric)});
    }
  }
  return out;
}

double plain_value(const World& world, const VectorX& q, int shape_A, int shape_B, ClearanceMetric metric) {
  Data data(world.model());
  forward_kinematics(world.model(), data, q);
  return value_of(world, data, shape_A, shape_B, metric);
}

}  // namespace tangere::test
