#include "experiments/smooth_worlds.hpp"

#include <algorithm>
#include <cmath>

#include "apps/cli/text.hpp"
#include "tangere/geometry/mass_properties.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/scaling.hpp"

namespace tangere::experiments {
namespace {

void add_fixtures(const std::vector<Fixture>& fixtures, double friction, ModelBuilder& builder) {
  for (std::size_t i = 0; i < fixtures.size(); ++i) {
    const std::string name = "fixture" + std::to_string(i);
    builder.add_body(
        {.name = name,
         .shapes = {{.name = name, .shape = fixtures[i].shape, .X_BS = fixtures[i].X_WS, .friction = friction}}},
        {.name = name});
  }
}

BodySpec floor_body(const Vector3& up, double friction) {
  return {.name = "floor", .shapes = {{.name = "floor", .shape = HalfSpace{up, 0.0}, .friction = friction}}};
}

}  // namespace

Setup planar_setup(const std::vector<PlanarBody>& bodies, const std::vector<Fixture>& fixtures, double friction,
                   const WorldOptions& options, double gravity) {
  ModelBuilder builder("plane");
  builder.set_gravity({0.0, -gravity, 0.0});
  builder.add_body(floor_body(Vector3::UnitY(), friction), {.name = "floor"});
  add_fixtures(fixtures, friction, builder);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string name = "body" + std::to_string(i);
    MassProperties inertia;
    inertia.mass = bodies[i].mass;
    inertia.center.setZero();
    inertia.inertia = bodies[i].inertia * Matrix3::Identity();
    builder.add_body(
        {.name = name, .inertia = inertia, .shapes = {{.name = name, .shape = bodies[i].shape, .friction = friction}}},
        {.name = name, .type = JointType::planar, .axis = Vector3::UnitZ()});
  }
  Setup out{World(builder.build(), {}, options), {}};
  out.state = {VectorX(out.world.nq()), VectorX(out.world.nv())};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(3 * i);
    out.state.q.segment<3>(k) = bodies[i].q;
    out.state.v.segment<3>(k) = bodies[i].v;
  }
  return out;
}

Shape prism(const std::vector<Vector2>& rows, const std::vector<double>& offsets, double half_depth) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  Polytope out{MatrixX3::Zero(n + 2, 3), VectorX(n + 2)};
  for (Eigen::Index i = 0; i < n; ++i) {
    out.A.row(i).head<2>() = rows[i].transpose();
    out.b[i] = offsets[i];
  }
  out.A(n, 2) = 1.0;
  out.A(n + 1, 2) = -1.0;
  out.b.tail<2>().setConstant(half_depth);
  return out;
}

std::vector<Kind> kinds(double size) {
  const double s = size;
  MatrixX3 tetrahedron(4, 3);
  tetrahedron << 0.4, 0.3, -0.2, -0.4, 0.35, -0.25, 0.05, -0.45, -0.2, 0.0, 0.05, 0.45;
  MatrixX2 C(5, 2);
  VectorX d(5);
  for (int i = 0; i < 5; ++i) {
    const double angle = 2.0 * M_PI * i / 5.0;
    C.row(i) << std::cos(angle), std::sin(angle);
    d[i] = 0.3 * s;
  }
  return {{"sphere", Sphere{0.3 * s}},
          {"box", Box{.size = {0.5 * s, 0.4 * s, 0.3 * s}}},
          {"capsule", Capsule{.radius = 0.15 * s, .length = 0.5 * s}},
          {"cylinder", Cylinder{.radius = 0.25 * s, .length = 0.5 * s}},
          {"cone", Cone{.height = 0.6 * s, .half_angle = 0.5}},
          {"ellipsoid", Ellipsoid{.semi_axes = {0.35 * s, 0.25 * s, 0.2 * s}}},
          {"polytope", Polytope::from_vertices(s * tetrahedron)},
          {"padded polygon", PaddedPolygon{C, d, 0.1 * s}}};
}

FreeBody random_body(const Shape& shape, double mass, double size, double low, double high, Random& random) {
  FreeBody body{shape};
  body.X_WB = {random.rotation(),
               size * Vector3(random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), random.uniform(low, high))};
  // speeds go with the root of the size: the fall takes the same number of natural times
  const double speed = std::sqrt(size);
  body.velocity = speed * Vector3(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), random.uniform(-2.0, 0.0));
  body.omega = random.normal3() / speed;
  body.inertia = inertia_of(shape, mass);
  return body;
}

MassProperties inertia_of(const Shape& shape, double mass) {
  MassProperties out = mass_properties(shape, 1.0);
  out.inertia *= mass / out.mass;
  out.mass = mass;
  return out;
}

Setup free_setup(const std::vector<FreeBody>& bodies, bool floor, double friction, const WorldOptions& options,
                 double gravity, const std::vector<Fixture>& fixtures) {
  ModelBuilder builder("space");
  builder.set_gravity({0.0, 0.0, -gravity});
  if (floor) builder.add_body(floor_body(Vector3::UnitZ(), friction), {.name = "floor"});
  add_fixtures(fixtures, friction, builder);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string name = "body" + std::to_string(i);
    builder.add_body({.name = name,
                      .inertia = bodies[i].inertia,
                      .shapes = {{.name = name, .shape = bodies[i].shape, .friction = friction}}},
                     {.name = name, .type = JointType::free});
  }
  Setup out{World(builder.build(), {}, options), {}};
  out.state = {neutral_configuration(out.world.model()), VectorX::Zero(out.world.nv())};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto q = static_cast<Eigen::Index>(7 * i);
    const auto v = static_cast<Eigen::Index>(6 * i);
    out.state.q.segment<3>(q) = bodies[i].X_WB.p;
    out.state.q.segment<4>(q + 3) = bodies[i].X_WB.quaternion();
    out.state.v.segment<3>(v) = bodies[i].X_WB.R.transpose() * bodies[i].velocity;
    out.state.v.segment<3>(v + 3) = bodies[i].omega;
  }
  return out;
}

WorldOptions smooth_options(double frequency, double kappa) {
  WorldOptions options;
  options.time_step = 1.0 / frequency;
  options.formulation = Formulation::single_level;
  options.smooth.kappa = kappa;
  options.smooth.warm_start = false;
  options.smooth.margin = 1e3;
  return options;
}

void RunCount::add(const StepResult& result) {
  const SmoothStatistics& smooth = result.smooth;
  ++steps;
  iterations += smooth.iterations;
  bool again = false;
  for (std::size_t r = 0; r < kNumSmoothRungs; ++r) {
    islands += smooth.rungs[r];
    rungs[r] += smooth.rungs[r];
    again = again || (r > static_cast<std::size_t>(SmoothRung::cold) && smooth.rungs[r] > 0);
  }
  if (again || smooth.failures > 0) ++second_tries;
  if (smooth.failures > 0) ++failures;
}

void RunCount::add(const RunCount& other) {
  steps += other.steps;
  islands += other.islands;
  iterations += other.iterations;
  second_tries += other.second_tries;
  failures += other.failures;
  for (std::size_t r = 0; r < kNumSmoothRungs; ++r) rungs[r] += other.rungs[r];
  violation = std::max(violation, other.violation);
}

double RunCount::mean_iterations() const {
  return static_cast<double>(iterations) / static_cast<double>(std::max(1L, islands));
}

nlohmann::json to_json(const RunCount& count) {
  return {{"steps", count.steps},           {"islands", count.islands},
          {"iterations", count.iterations}, {"second_tries", count.second_tries},
          {"failures", count.failures},     {"rungs", count.rungs},
          {"violation", count.violation}};
}

RunCount run_count(const nlohmann::json& json) {
  RunCount count;
  count.steps = json.at("steps");
  count.islands = json.at("islands");
  count.iterations = json.at("iterations");
  count.second_tries = json.at("second_tries");
  count.failures = json.at("failures");
  count.rungs = json.at("rungs").get<std::array<long, kNumSmoothRungs>>();
  count.violation = json.at("violation");
  return count;
}

std::string ladder_text(const RunCount& count) {
  std::string out;
  for (std::size_t r = static_cast<std::size_t>(SmoothRung::path); r < kNumSmoothRungs; ++r)
    out += cli::formatted("%s%s %ld", out.empty() ? "" : ", ",
                          std::string(to_string(static_cast<SmoothRung>(r))).c_str(), count.rungs[r]);
  return out;
}

double violation(const World& world, const VectorX& q, Data& data) {
  const Model& model = world.model();
  forward_kinematics(model, data, q);
  ScalingWorkspace workspace;
  double worst = 0.0;
  const auto count = static_cast<int>(world.scene().shapes().size());
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      const int body_A = world.scene().shapes()[a].body;
      const int body_B = world.scene().shapes()[b].body;
      if (!model.may_collide(body_A, body_B)) continue;
      const CollisionShape& A = world.scene().shape(model, a);
      const CollisionShape& B = world.scene().shape(model, b);
      if (A.shape.is_half_space() && B.shape.is_half_space()) continue;
      const Scaling query = scaling(A.shape, body_pose(model, data, body_A) * A.X_BS, B.shape,
                                    body_pose(model, data, body_B) * B.X_BS, {.tolerance = 1e-10}, workspace);
      worst = std::max(worst, 1.0 - query.alpha);
    }
  }
  return worst;
}

}  // namespace tangere::experiments
