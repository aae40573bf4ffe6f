/// DCOL's twelve primitives (and a cube) that fly at each other without gravity and friction, at 100 Hz for 3.5 s.

#include <cmath>

#include <Eigen/Geometry>

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/scene_run.hpp"
#include "tangere/multibody/energy.hpp"

namespace tangere::experiments {
namespace {

constexpr double kSeconds = 3.5;
constexpr double kFrequency = 100.0;
constexpr double kKappa = 1e-8;

double radians(double degrees) { return degrees * M_PI / 180.0; }

PaddedPolygon regular(int edges, double distance, double radius) {
  PaddedPolygon out{MatrixX2(edges, 2), VectorX::Constant(edges, distance), radius};
  for (int i = 0; i < edges; ++i) out.C.row(i) << std::cos(2.0 * M_PI * i / edges), std::sin(2.0 * M_PI * i / edges);
  return out;
}

Polytope faces(const std::vector<std::pair<Vector3, double>>& rows) {
  Polytope out{MatrixX3(static_cast<Eigen::Index>(rows.size()), 3), VectorX(static_cast<Eigen::Index>(rows.size()))};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.A.row(static_cast<Eigen::Index>(i)) = rows[i].first.transpose();
    out.b[static_cast<Eigen::Index>(i)] = rows[i].second;
  }
  return out;
}

Polytope eight_faces() {
  std::vector<std::pair<Vector3, double>> rows;
  for (const double sign : {1.0, -1.0})
    for (const Vector3& n : {Vector3(0.0, 0.0, 1.0), Vector3(0.0, 0.942809, -1.0 / 3.0),
                             Vector3(0.816497, -0.471405, -1.0 / 3.0), Vector3(-0.816497, -0.471405, -1.0 / 3.0)})
      rows.emplace_back(sign * n, sign > 0.0 ? 0.866025 : 1.443376);
  return faces(rows);
}

Polytope fourteen_faces() {
  std::vector<std::pair<Vector3, double>> rows;
  for (const double sign : {1.0, -1.0}) {
    for (const Vector3& n : {Vector3(0.0, 0.0, -1.0), Vector3(0.0, -0.942809, 1.0 / 3.0),
                             Vector3(0.816497, 0.471405, 1.0 / 3.0), Vector3(-0.816497, 0.471405, 1.0 / 3.0)})
      rows.emplace_back(sign * n, sign > 0.0 ? 0.562917 : 0.764989);
    for (const Vector3& n : {Vector3(0.707107, 0.408248, -0.577350), Vector3(0.707107, -0.408248, 0.577350),
                             Vector3(0.0, 0.816497, 0.577350)})
      rows.emplace_back(sign * n, 0.825);
  }
  return faces(rows);
}

struct Momenta {
  Vector3 linear = Vector3::Zero();
  Vector3 angular = Vector3::Zero();
};

/// Angular: about the centre of mass of all.
Momenta momenta(const Model& model, Data& data, const State& state) {
  forward_kinematics(model, data, state.q, state.v);
  const Vector6 both = centroidal_momentum(model, data);
  return {both.head<3>(), both.tail<3>()};
}

/// Twelve primitives at random, all on their way to the cube at the origin; a draw in which they do not overlap.
Setup colliding_primitives() {
  const std::vector<Shape> shapes = {Cylinder{.radius = 0.6, .length = 3.0},
                                     Capsule{.radius = 0.2, .length = 5.0},
                                     Sphere{0.8},
                                     Cone{.height = 2.0, .half_angle = radians(22.0)},
                                     eight_faces(),
                                     regular(5, 0.6, 0.2),
                                     Cylinder{.radius = 1.1, .length = 2.3},
                                     Capsule{.radius = 0.8, .length = 1.0},
                                     Sphere{0.5},
                                     Cone{.height = 3.0, .half_angle = radians(18.0)},
                                     fourteen_faces(),
                                     regular(8, 0.8, 0.15),
                                     Box{.size = {1.0, 1.0, 1.0}}};
  WorldOptions options = smooth_options(kFrequency, kKappa);
  options.smooth.warm_start = true;
  options.smooth.margin = 0.1;
  Random random(1);
  while (true) {
    std::vector<FreeBody> bodies;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      FreeBody body{shapes[i]};
      if (i + 1 < shapes.size()) body.X_WB.p = 5.0 * random.normal3();
      body.velocity = -0.5 * body.X_WB.p;
      body.omega = radians(20.0) * random.normal3();
      body.inertia.mass = 1.0;
      body.inertia.center.setZero();
      body.inertia.inertia = Vector3(1.0, 2.0, 3.0).asDiagonal();
      bodies.push_back(body);
    }
    Setup setup = free_setup(bodies, false, 0.0, options, 0.0);
    Data data(setup.world.model());
    if (violation(setup.world, setup.state.q, data) == 0.0) return setup;
  }
}

std::string charts(const SceneRun& run) {
  const ChartAxis time{"time, s"};
  return chart_svg(
      {{"Twelve primitives and a cube: kinetic energy", time, {"J"}, {time_line("energy", run, "kinetic")}},
       {"Drift of the momenta, penetration",
        time,
        {"N s, N m s; 1 - alpha", true},
        {time_line("linear drift", run, "linear"), time_line("angular drift", run, "angular"),
         time_line("penetration", run, "penetration")}}});
}

}  // namespace

Outcome dcol_primitives(const Request& request) {
  const int steps = static_cast<int>(kSeconds * kFrequency);
  const Setup setup = colliding_primitives();
  Outcome out;
  add_film(request, "dcol_primitives", "Twelve primitives and a cube collide", setup, steps, out);
  const Model& model = setup.world.model();
  Data data(model);
  const Momenta start = momenta(model, data, setup.state);
  const SceneRun run = run_scene("dcol_primitives", setup, steps, request.log, [&](const State& state) {
    const Momenta now = momenta(model, data, state);
    return std::map<std::string, double>{{"linear", (now.linear - start.linear).norm()},
                                         {"angular", (now.angular - start.angular).norm()}};
  });
  const double worst = run.largest("penetration");
  const double linear = run.largest("linear");
  const double angular = run.largest("angular");
  const double seconds = run.sum("seconds");
  out.text = cli::formatted(
      "  %ld steps, pairs at once %.0f at most, %ld second starts (%s), %ld failed\n"
      "  largest 1 - alpha %.1e; drift of the momentum %.1e (linear), %.1e (angular)\n"
      "  %.2f s for %.1f s: %.1f times real time\n",
      run.count.steps, run.largest("pairs"), run.count.second_tries, ladder_text(run.count).c_str(), run.count.failures,
      worst, linear, angular, seconds, kSeconds, kSeconds / seconds);
  out.data = {{"violation", worst},
              {"linear", linear},
              {"angular", angular},
              {"seconds", seconds},
              {"failures", run.count.failures}};
  out.met = run.count.failures == 0 && worst <= 1e-8 && linear <= 1e-8 && angular <= 1e-8 && seconds < kSeconds;
  out.svg = charts(run);
  return out;
}

}  // namespace tangere::experiments
