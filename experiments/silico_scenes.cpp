/// Silico's scenes: the tower of four blocks and one of ten boxes in space, the peg in its hole, a union and a sum.

#include <cmath>

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/scene_run.hpp"
#include "tangere/math/so3.hpp"

namespace tangere::experiments {
namespace {

WorldOptions warm_options(double dt, double kappa) {
  WorldOptions options = smooth_options(1.0 / dt, kappa);
  options.smooth.warm_start = true;
  options.smooth.margin = 0.1;
  return options;
}

/// The run, with its charts and, if they are wanted, a film.
SceneRun shown_run(const char* name, const char* title, const Setup& setup, int steps, const Request& request,
                   Outcome& outcome) {
  add_film(request, name, title, setup, steps, outcome);
  SceneRun run = run_scene(name, setup, steps, request.log);
  outcome.svg = scene_charts(title, run);
  return run;
}

}  // namespace

Outcome silico_tower(const Request& request) {
  const Shape square = Box{.size = {0.5, 0.5, 0.5}};
  const Vector3 poses[] = {{0.0, 0.3, -0.2}, {0.0, 1.0, -0.2}, {-0.05, 1.8, -0.1}, {0.05, 2.4, 0.1}};
  std::vector<PlanarBody> bodies;
  for (const Vector3& q : poses) bodies.push_back({square, q});
  Setup setup = planar_setup(bodies, {}, 0.5, warm_options(0.02, 1e-10));
  Outcome out;
  const SceneRun run = shown_run("silico_tower", "Four blocks fall on each other", setup, 500, request, out);
  bool stands = true;
  for (int i = 0; i < 4; ++i) {
    const double x = run.q[3 * i];
    const double y = run.q[3 * i + 1];
    out.text += cli::formatted("  block %d: x %7.4f, y %7.4f (at rest %.2f), turned by %8.1e\n", i, x, y,
                               0.25 + 0.5 * i, run.q[3 * i + 2]);
    stands = stands && std::abs(y - (0.25 + 0.5 * i)) < 1e-3;
  }
  out.text += counts_text(run);
  out.data = summary(run);
  out.met = stands && run.count.failures == 0 && run.speed() < 1e-6 && run.largest("penetration") < 1e-8;
  return out;
}

Outcome silico_tower_3d(const Request& request) {
  const Shape cube = Box{.size = {0.4, 0.4, 0.4}};
  Random random(3);
  std::vector<FreeBody> bodies;
  for (int i = 0; i < 10; ++i) {
    FreeBody body{cube};
    body.X_WB.p = {0.02 * random.uniform(-1.0, 1.0), 0.02 * random.uniform(-1.0, 1.0), 0.2 + 0.4 * i};
    body.inertia = inertia_of(cube, 1.0);
    bodies.push_back(body);
  }
  Setup setup = free_setup(bodies, true, 0.5, warm_options(0.01, 1e-6));
  const VectorX start = setup.state.q;
  Outcome out;
  const SceneRun run = shown_run("silico_tower_3d", "Ten boxes stand", setup, 1000, request, out);
  const double moved = (run.q - start).cwiseAbs().maxCoeff();
  out.text =
      cli::formatted("  after 10 s the boxes have moved by %.1e at most, and move at %.1e\n", moved, run.speed()) +
      counts_text(run);
  out.data = summary(run);
  out.data["moved"] = moved;
  out.met = moved < 1e-2 && run.count.failures == 0;
  return out;
}

Outcome silico_peg(const Request& request) {
  const auto unit = [](double x, double y) { return Vector2(x, y).normalized(); };
  const double s = 0.249;
  PlanarBody peg{prism({unit(1, 0), unit(0, 1), unit(-1, 0), unit(0, -1), unit(1, -0.2), unit(-1, -0.2)},
                       {s, 3.0 * s, s, s, 0.9 * s, 0.9 * s}, 0.25)};
  peg.q = {0.0, 1.5, 0.30};
  const Shape wall = Box{.size = {0.5, 1.0, 0.5}};
  Setup setup =
      planar_setup({peg}, {{wall, Pose::translation({-0.5, 0.5, 0.0})}, {wall, Pose::translation({0.5, 0.5, 0.0})}},
                   0.03, warm_options(0.01, 1e-9));
  Outcome out;
  const SceneRun run = shown_run("silico_peg", "A peg goes into its hole", setup, 500, request, out);
  out.text = cli::formatted("  the peg is at (%.4f, %.4f), turned by %.1e; in the hole y is %.4f\n", run.q[0], run.q[1],
                            run.q[2], s) +
             counts_text(run);
  out.data = summary(run);
  out.met = std::abs(run.q[1] - s) < 1e-3 && std::abs(run.q[2]) < 0.01 && run.count.failures == 0 &&
            run.largest("penetration") < 1e-8;
  return out;
}

namespace {

/// A cylinder on a box on a padded hexagon, a little beside each other.
Setup mixed_stack(double kappa) {
  PaddedPolygon hexagon{MatrixX2(6, 2), VectorX::Constant(6, 0.4), 0.1};
  for (int i = 0; i < 6; ++i) hexagon.C.row(i) << std::cos(M_PI * i / 3.0), std::sin(M_PI * i / 3.0);
  const Shape shapes[] = {hexagon, Box{.size = {0.5, 0.4, 0.3}}, Cylinder{.radius = 0.15, .length = 0.3}};
  const double heights[] = {0.1, 0.35, 0.65};
  std::vector<FreeBody> bodies;
  for (int i = 0; i < 3; ++i) {
    FreeBody body{shapes[i]};
    body.X_WB.p = {0.02 * i, -0.01 * i, heights[i]};
    // the cylinder's axis is x: upright
    if (i == 2) body.X_WB.R = so3::exp(Vector3(0.0, -0.5 * M_PI, 0.0));
    body.inertia = inertia_of(shapes[i], 1.0);
    bodies.push_back(body);
  }
  return free_setup(bodies, true, 0.5, warm_options(0.01, kappa));
}

}  // namespace

Outcome silico_stack_3d(const Request& request) {
  constexpr int kSteps = 200;
  const char* title = "A cylinder on a box on a padded hexagon";
  Outcome out;
  out.text = "  kappa     moved   speed at the end   second starts  failed\n";
  out.met = true;
  Chart chart{title, {"time, s"}, {"speed, m/s or rad/s", true}};
  for (const double kappa : {1e-4, 1e-6, 1e-8}) {
    const Setup setup = mixed_stack(kappa);
    const std::string name = cli::formatted("kappa %.0e", kappa);
    const SceneRun run = run_scene(name, setup, kSteps, request.log);
    double moved = 0.0;
    for (int i = 0; i < 3; ++i) moved = std::max(moved, (run.q - setup.state.q).segment<3>(7 * i).norm());
    out.text += cli::formatted("  %.0e  %.1e   %16.1e   %13ld  %6ld\n", kappa, moved, run.speed(),
                               run.count.second_tries, run.count.failures);
    out.data["runs"].push_back(summary(run));
    out.met = out.met && run.count.failures == 0 && moved < 100.0 * kappa && run.largest("penetration") < 1e-8;
    chart.lines.push_back(time_line(name, run, "speed"));
  }
  add_film(request, "silico_stack_3d", title, mixed_stack(1e-8), kSteps, out);
  out.svg = chart_svg({chart});
  return out;
}

Outcome silico_peg_3d(const Request& request) {
  const double s = 0.249;
  MatrixX3 A(10, 3);
  VectorX b(10);
  A << 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 1, 0, -0.2, -1, 0, -0.2, 0, 1, -0.2, 0, -1, -0.2;
  A.rowwise().normalize();
  b << s, s, s, s, 3.0 * s, s, 0.9 * s, 0.9 * s, 0.9 * s, 0.9 * s;
  FreeBody peg{Shape(Polytope{A, b})};
  peg.X_WB = {so3::exp(Vector3(0.10, 0.15, 0.03)), {0.01, -0.01, 1.5}};
  peg.inertia.mass = 1.0;
  peg.inertia.center.setZero();
  peg.inertia.inertia = 0.2 * Matrix3::Identity();
  std::vector<Fixture> walls;
  for (const double side : {-1.0, 1.0}) {
    walls.push_back({Shape(Box{.size = {0.5, 1.5, 1.0}}), Pose::translation({0.5 * side, 0.0, 0.5})});
    walls.push_back({Shape(Box{.size = {0.5, 0.5, 1.0}}), Pose::translation({0.0, 0.5 * side, 0.5})});
  }
  Setup setup = free_setup({peg}, true, 0.03, warm_options(0.01, 1e-9), 9.81, walls);
  Outcome out;
  const SceneRun run = shown_run("silico_peg_3d", "A square peg goes into its hole", setup, 500, request, out);
  const double tilt = run.q.segment<2>(3).norm();
  out.text = cli::formatted("  the peg is at (%.4f, %.4f, %.4f), tilted by %.1e; in the hole z is %.4f\n", run.q[0],
                            run.q[1], run.q[2], 2.0 * tilt, s) +
             counts_text(run);
  out.data = summary(run);
  out.met =
      std::abs(run.q[2] - s) < 1e-3 && tilt < 0.005 && run.count.failures == 0 && run.largest("penetration") < 1e-8;
  return out;
}

Outcome silico_bundles_3d(const Request& request) {
  const Shape both = Bundle{{{Shape(Box{.size = {0.6, 0.6, 0.3}}), Pose()},
                             {Shape(Capsule{.radius = 0.1, .length = 2.0}), Pose::translation({0.0, 0.0, 0.1})}}};
  const Shape sum = MinkowskiSum{{{Shape(Cone{.height = 0.6, .half_angle = 0.6}), Pose()},
                                  {Shape(Ellipsoid{.semi_axes = {0.1, 0.2, 0.15}}), Pose()}}};
  FreeBody first{both};
  first.X_WB = {so3::exp(Vector3(0.3, -0.2, 0.1)), {0.0, 0.0, 1.2}};
  first.omega = {0.5, 0.0, -1.0};
  first.inertia.mass = 1.0;
  first.inertia.center.setZero();
  first.inertia.inertia = Vector3(0.05, 0.2, 0.2).asDiagonal();
  FreeBody second{sum};
  second.X_WB = {so3::exp(Vector3(0.0, 0.7, 0.4)), {0.3, 0.2, 2.4}};
  second.inertia.mass = 1.0;
  second.inertia.center.setZero();
  second.inertia.inertia = 0.05 * Matrix3::Identity();
  Setup setup = free_setup({first, second}, true, 0.6, warm_options(0.01, 1e-5));
  Outcome out;
  const SceneRun run = shown_run("silico_bundles_3d", "A union and a Minkowski sum fall", setup, 500, request, out);
  for (int i = 0; i < 2; ++i)
    out.text += cli::formatted("  %s: (%.3f, %.3f, %.3f), speed %.1e\n", i == 0 ? "union" : "sum  ", run.q[7 * i],
                               run.q[7 * i + 1], run.q[7 * i + 2], run.v.segment<6>(6 * i).norm());
  out.text += counts_text(run);
  out.data = summary(run);
  // what is round may roll on
  out.met = run.count.failures == 0 && run.largest("penetration") < 1e-6 && run.v.segment<6>(0).norm() < 1e-2 &&
            run.q[2] < 0.5 && run.q[9] < 1.0;
  return out;
}

Outcome silico_bundles(const Request& request) {
  const auto unit = [](double x, double y) { return Vector2(x, y).normalized(); };
  const Shape triangle = prism({unit(0, 1), unit(2.5, -1), unit(-2.5, -1)}, {0.3, 0.3, 0.3}, 0.3);
  PlanarBody both{Bundle{{{triangle, Pose()}, {Shape(Capsule{.radius = 0.15, .length = 4.0}), Pose()}}}};
  both.q = {0.0, 1.5, -0.2};
  both.v = {0.0, 0.0, -1.0};
  PlanarBody sum{RoundedPolytope{
      *prism({unit(5, 1), unit(-5, 1), unit(1, 5), unit(1, -5)}, {0.3, 0.3, 0.3, 0.3}, 0.3).get_if<Polytope>(), 0.3}};
  sum.q = {-1.8, 3.5, 0.75};
  Setup setup = planar_setup({both, sum}, {}, 0.6, warm_options(0.01, 1e-4));
  Outcome out;
  const SceneRun run = shown_run("silico_bundles", "A union and a Minkowski sum fall", setup, 250, request, out);
  for (int i = 0; i < 2; ++i)
    out.text += cli::formatted("  %s: (%.3f, %.3f), turned by %.3f, speed %.1e\n", i == 0 ? "union" : "sum  ",
                               run.q[3 * i], run.q[3 * i + 1], run.q[3 * i + 2], run.v.segment<3>(3 * i).norm());
  out.text += counts_text(run);
  out.data = summary(run);
  out.met = run.count.failures == 0 && run.largest("penetration") < 1e-4 && run.q.allFinite();
  return out;
}

}  // namespace tangere::experiments
