/// bench_clearance: what a planner asks of an arm of seven joints and sixteen shapes among obstacles, beside coal where
/// the build has it; pair questions with fewer digits; large hulls and bundles.
///
/// Random configurations within the limits, one core. Medians over configurations of the best of three calls each. Coal
/// is given the poses of the shapes; what ours takes includes the kinematics. Coal gives no gradients.

#include <algorithm>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "bench/support/coal_peer.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/way_columns.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/sim/rays.hpp"
#include "tangere/sim/swept_clearance.hpp"

namespace tangere::bench {
namespace {

constexpr int kConfigurations = 400;
constexpr int kRepeats = 3;

/// Seven turning joints, axes z and y in turn; two or three shapes per link.
int add_arm(ModelBuilder& builder) {
  int parent = kWorld;
  for (int i = 0; i < 7; ++i) {
    const std::string name = "link" + std::to_string(i);
    const double r = 0.08 - 0.006 * i;
    BodySpec body{.name = name, .inertia = mass_properties(Box{{0.1, 0.1, 0.2}})};
    Matrix3 up;
    up << 0, 0, -1, 0, 1, 0, 1, 0, 0;
    body.shapes.push_back({.name = "tube", .shape = Capsule{r, 0.12}, .X_BS = Pose(up, {0.0, 0.0, 0.1})});
    if (i % 2 == 0) {
      body.shapes.push_back(
          {.name = "cover", .shape = Cylinder{1.1 * r, 0.1}, .X_BS = Pose::translation({0, 0, 0.02})});
    } else {
      body.shapes.push_back(
          {.name = "motor", .shape = Box{{2 * r, 2.2 * r, 0.1}}, .X_BS = Pose::translation({0, 0, 0.05})});
    }
    if (i == 6) {
      body.shapes.push_back(
          {.name = "left", .shape = Box{{0.02, 0.02, 0.1}}, .X_BS = Pose::translation({0, 0.04, 0.22})});
      body.shapes.push_back({.name = "ball", .shape = Sphere{0.03}, .X_BS = Pose::translation({0, -0.04, 0.22})});
    }
    JointSpec joint{.name = name,
                    .type = JointType::revolute,
                    .X_PJ = Pose::translation({0.0, 0.0, i == 0 ? 0.0 : 0.22}),
                    .axis = i % 2 == 0 ? Vector3::UnitZ() : Vector3::UnitY(),
                    .dofs = {{.lower = i % 2 == 0 ? -2.8 : -1.9, .upper = i % 2 == 0 ? 2.8 : 1.9}}};
    parent = builder.add_body(std::move(body), std::move(joint), parent);
  }
  return parent;
}

World world_among(int count, double reach, Random& random) {
  ModelBuilder builder("arm");
  (void)add_arm(builder);
  for (int i = 0; i < count; ++i) {
    const std::string name = "obstacle" + std::to_string(i);
    Shape shape = Sphere{random.uniform(0.04, 0.12)};
    if (i % 4 == 1) shape = Box{{random.uniform(0.05, 0.3), random.uniform(0.05, 0.3), random.uniform(0.05, 0.3)}};
    if (i % 4 == 2) shape = Capsule{random.uniform(0.03, 0.08), random.uniform(0.1, 0.4)};
    if (i % 4 == 3) shape = Cylinder{random.uniform(0.03, 0.1), random.uniform(0.1, 0.4)};
    Vector3 at;
    // away from the column on which the arm stands
    do at = reach * Vector3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-0.2, 1));
    while (at.head<2>().norm() < 0.4);
    builder.add_body({.name = name, .shapes = {{.name = name, .shape = shape}}},
                     {.name = name, .X_PJ = Pose(random.rotation(), at)});
  }
  return World(builder.build());
}

template <class F>
double best_of(const CallTimer& timer, F&& f) {
  double best = timer(f);
  for (int k = 1; k < kRepeats; ++k) best = std::min(best, timer(f));
  return best;
}

void print(const char* name, std::vector<double> ns) {
  const Statistics s = statistics(std::move(ns));
  std::printf("  %-46s median %9.2f us   mean %9.2f   p99 %9.2f\n", name, 1e-3 * s.median, 1e-3 * s.mean, 1e-3 * s.p99);
}

void of_arm(int count, double reach, const CallTimer& timer) {
  Random random(1);
  const World world = world_among(count, reach, random);
  const Model& model = world.model();
  ClearanceWorkspace workspace(world);
  SweptWorkspace swept(world);
  std::vector<VectorX> all;
  for (int k = 0; k < kConfigurations; ++k) all.push_back(random_configuration(model, random));

  // the same objects for coal
  const std::span<const SceneShape> shapes = world.scene().shapes();
  Data data(model);
  std::vector<CoalPeer::Object> objects;
  forward_kinematics(model, data, all[0]);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const CollisionShape& shape = world.scene().shape(model, static_cast<int>(i));
    objects.push_back(
        {&shape.shape, body_pose(model, data, shapes[i].body) * shape.X_BS, !way_of(model, shapes[i].body).empty()});
  }
  std::vector<std::pair<int, int>> self;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t j = i + 1; j < shapes.size(); ++j)
      if (objects[i].moves && objects[j].moves && model.may_collide(shapes[i].body, shapes[j].body))
        self.emplace_back(i, j);
  CoalPeer coal(objects, self);
  std::vector<Pose> moved;

  std::vector<double> with_gradients, values, hits, margins, coal_near, coal_hits, motions, contacts, rays;
  long pairs = 0;
  int overlapping = 0;
  int different = 0;
  for (int k = 0; k < kConfigurations; ++k) {
    const VectorX& q = all[k];
    with_gradients.push_back(
        best_of(timer, [&] { keep(clearance(world, q, {.margin = 0.2}, workspace).pairs.size()); }));
    pairs += static_cast<long>(clearance(world, q, {.margin = 0.2}, workspace).pairs.size());
    values.push_back(best_of(
        timer, [&] { keep(clearance(world, q, {.margin = 0.2, .gradients = false}, workspace).pairs.size()); }));
    const bool hit = in_collision(world, q, workspace);
    overlapping += hit ? 1 : 0;
    hits.push_back(best_of(timer, [&] { keep(in_collision(world, q, workspace)); }));
    const Ray ray{{0.0, 0.0, 1.2}, random.unit_vector(), 3.0};
    rays.push_back(best_of(timer, [&] { keep(cast_ray(world, q, ray, workspace).hit); }));
    // a motion of about 0.3 radians per joint
    VectorX to = q;
    for (int i = 0; i < to.size(); ++i) to[i] += random.uniform(-0.5, 0.5);
    if (k % 4 == 0) {
      motions.push_back(
          timer([&] { keep(swept_clearance(world, q, to, {.margin = 0.2, .accuracy = 1e-3}, swept).time); }));
      contacts.push_back(timer([&] { keep(first_contact(world, q, to, {.accuracy = 1e-3}, swept).time); }));
    }
    if (!CoalPeer::is_there()) continue;
    forward_kinematics(model, data, q);
    moved.clear();
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (objects[i].moves)
        moved.push_back(body_pose(model, data, shapes[i].body) * world.scene().shape(model, static_cast<int>(i)).X_BS);
    coal.place(moved);
    coal_near.push_back(best_of(timer, [&] {
      coal.place(moved);
      keep(coal.count_near(0.2));
    }));
    coal_hits.push_back(best_of(timer, [&] {
      coal.place(moved);
      keep(coal.collides());
    }));
    different += coal.collides() != hit ? 1 : 0;
    different += coal.count_near(0.2) != static_cast<int>(clearance(world, q, {.margin = 0.2}, workspace).pairs.size());
  }
  std::printf("arm of 7 joints, %zu shapes, %d obstacles: %.1f pairs within 0.2 m, %.0f %% in collision\n",
              objects.size() - static_cast<std::size_t>(count), count, static_cast<double>(pairs) / kConfigurations,
              100.0 * overlapping / kConfigurations);
  print("pairs within 0.2 m with gradients", with_gradients);
  print("the same without gradients", values);
  if (CoalPeer::is_there()) print("coal, pairs within 0.2 m", coal_near);
  print("in_collision", hits);
  if (CoalPeer::is_there()) print("coal, collides", coal_hits);
  print("swept clearance, 0.5 rad, to 1 mm", motions);
  print("first contact, 0.5 rad, to 1 mm", contacts);
  print("ray", rays);
  if (CoalPeer::is_there())
    std::printf("  answers that differ from coal's: %d of %d\n", different, 2 * kConfigurations);
}

MatrixX3 points_on_ellipsoid(int count, Random& random) {
  MatrixX3 points(count, 3);
  for (int i = 0; i < count; ++i) points.row(i) = random.unit_vector().cwiseProduct(Vector3(0.3, 0.2, 0.4)).transpose();
  return points;
}

void of_pairs(const char* name, const Shape& A, const Shape& B, double from, double to, const CallTimer& timer) {
  Random random(3);
  ScalingWorkspace scalings;
  DistanceWorkspace distances;
  std::vector<double> alpha, value, sign;
  for (int k = 0; k < kConfigurations; ++k) {
    const Pose X_WA(random.rotation(), Vector3::Zero());
    const Pose X_WB(random.rotation(), random.uniform(from, to) * random.unit_vector());
    alpha.push_back(best_of(timer, [&] { keep(scaling(A, X_WA, B, X_WB, {}, scalings).alpha); }));
    value.push_back(best_of(timer, [&] { keep(distance(A, X_WA, B, X_WB, {}, distances).distance); }));
    sign.push_back(best_of(timer, [&] { keep(overlaps(A, X_WA, B, X_WB, distances)); }));
  }
  std::printf("%s\n", name);
  print("alpha", alpha);
  print("signed distance", value);
  print("overlaps", sign);
}

Shape grid_of_boxes(int edge, Random& random) {
  Bundle bundle;
  for (int i = 0; i < edge; ++i)
    for (int j = 0; j < edge; ++j)
      for (int k = 0; k < edge; ++k)
        bundle.parts.push_back({Box{{0.1, 0.06, 0.08}},
                                Pose(random.rotation(), 0.2 * Vector3(i, j, k) - Vector3::Constant(0.1 * (edge - 1)))});
  return bundle;
}

}  // namespace
}  // namespace tangere::bench

int main() {
  using namespace tangere;
  using namespace tangere::bench;
  const CallTimer timer;
  of_arm(20, 1.2, timer);
  of_arm(1000, 3.0, timer);
  Random random(2);
  for (const int count : {100, 300, 1000, 3000, 10000}) {
    const Shape A = Polytope::from_vertices(points_on_ellipsoid(count, random));
    const Shape B = Polytope::from_vertices(points_on_ellipsoid(count, random));
    of_pairs(("two hulls of " + std::to_string(count) + " vertices").c_str(), A, B, 0.3, 1.5, timer);
  }
  for (const int edge : {5, 8}) {
    const Shape A = grid_of_boxes(edge, random);
    const Shape B = grid_of_boxes(edge, random);
    of_pairs(("two bundles of " + std::to_string(edge * edge * edge) + " boxes").c_str(), A, B, 0.2 * edge, 0.4 * edge,
             timer);
  }
  return 0;
}
