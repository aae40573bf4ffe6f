/// Silico's scenes: the tower of four blocks and one of ten boxes in space, the peg in its hole, a union and a sum.

#include <cmath>

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/smooth_worlds.hpp"
#include "tangere/math/so3.hpp"

namespace tangere::experiments {
namespace {

struct Ran {
  RunCount count;
  double worst_violation = 0.0;
  State state;
};

/// Steps from the setup's state, as a film too.
Ran run(Setup& setup, int steps, const char* name, const char* title, Outcome& outcome) {
  Ran out;
  outcome.films.assign(1, film(name, title, setup.world, setup.state,
                               MatrixX::Zero(setup.world.nu(), static_cast<Eigen::Index>(steps))));
  Workspace workspace(setup.world);
  Data data(setup.world.model());
  const VectorX u = VectorX::Zero(setup.world.nu());
  for (int i = 0; i < steps; ++i) {
    out.count.add(step(setup.world, setup.state, u, workspace, setup.state));
    if (i % 10 == 9) out.worst_violation = std::max(out.worst_violation, violation(setup.world, setup.state.q, data));
  }
  out.state = setup.state;
  return out;
}

WorldOptions warm_options(double dt, double kappa) {
  WorldOptions options = smooth_options(1.0 / dt, kappa);
  options.smooth.warm_start = true;
  options.smooth.margin = 0.1;
  return options;
}

nlohmann::json summary(const Ran& ran) {
  return {{"q", std::vector<double>(ran.state.q.begin(), ran.state.q.end())},
          {"speed", ran.state.v.cwiseAbs().maxCoeff()},
          {"violation", ran.worst_violation},
          {"steps", ran.count.steps},
          {"second_tries", ran.count.second_tries},
          {"failed_steps", ran.count.failures}};
}

std::string counts(const Ran& ran) {
  return cli::formatted("  %ld steps, %ld needed a second start (%s), %ld failed; largest violation %.1e\n",
                        ran.count.steps, ran.count.second_tries, ladder_text(ran.count).c_str(), ran.count.failures,
                        ran.worst_violation);
}

}  // namespace

Outcome silico_tower(const Request& /*request*/) {
  const Shape square = Box{.size = {0.5, 0.5, 0.5}};
  const Vector3 poses[] = {{0.0, 0.3, -0.2}, {0.0, 1.0, -0.2}, {-0.05, 1.8, -0.1}, {0.05, 2.4, 0.1}};
  std::vector<PlanarBody> bodies;
  for (const Vector3& q : poses) bodies.push_back({square, q});
  Setup setup = planar_setup(bodies, {}, 0.5, warm_options(0.02, 1e-10));
  Outcome out;
  const Ran ran = run(setup, 500, "silico_tower", "Four blocks fall on each other", out);
  bool stands = true;
  for (int i = 0; i < 4; ++i) {
    const double x = ran.state.q[3 * i];
    const double y = ran.state.q[3 * i + 1];
    out.text += cli::formatted("  block %d: x %7.4f, y %7.4f (at rest %.2f), turned by %8.1e\n", i, x, y,
                               0.25 + 0.5 * i, ran.state.q[3 * i + 2]);
    stands = stands && std::abs(y - (0.25 + 0.5 * i)) < 1e-3;
  }
  out.text += counts(ran);
  out.data = summary(ran);
  out.met = stands && ran.count.failures == 0 && ran.state.v.cwiseAbs().maxCoeff() < 1e-6 && ran.worst_violation < 1e-8;
  return out;
}

Outcome silico_tower_3d(const Request& /*request*/) {
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
  const Ran ran = run(setup, 1000, "silico_tower_3d", "Ten boxes stand", out);
  const double moved = (ran.state.q - start).cwiseAbs().maxCoeff();
  out.text = cli::formatted("  after 10 s the boxes have moved by %.1e at most, and move at %.1e\n", moved,
                            ran.state.v.cwiseAbs().maxCoeff()) +
             counts(ran);
  out.data = summary(ran);
  out.data["moved"] = moved;
  out.met = moved < 1e-2 && ran.count.failures == 0;
  return out;
}

Outcome silico_peg(const Request& /*request*/) {
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
  const Ran ran = run(setup, 500, "silico_peg", "A peg goes into its hole", out);
  out.text = cli::formatted("  the peg is at (%.4f, %.4f), turned by %.1e; in the hole y is %.4f\n", ran.state.q[0],
                            ran.state.q[1], ran.state.q[2], s) +
             counts(ran);
  out.data = summary(ran);
  out.met = std::abs(ran.state.q[1] - s) < 1e-3 && std::abs(ran.state.q[2]) < 0.01 && ran.count.failures == 0 &&
            ran.worst_violation < 1e-8;
  return out;
}

Outcome silico_stack_3d(const Request& /*request*/) {
  PaddedPolygon hexagon{MatrixX2(6, 2), VectorX::Constant(6, 0.4), 0.1};
  for (int i = 0; i < 6; ++i) hexagon.C.row(i) << std::cos(M_PI * i / 3.0), std::sin(M_PI * i / 3.0);
  const Shape shapes[] = {hexagon, Box{.size = {0.5, 0.4, 0.3}}, Cylinder{.radius = 0.15, .length = 0.3}};
  const double heights[] = {0.1, 0.35, 0.65};
  Outcome out;
  out.text = "  kappa     moved   speed at the end   second starts  failed\n";
  out.met = true;
  for (const double kappa : {1e-4, 1e-6, 1e-8}) {
    std::vector<FreeBody> bodies;
    for (int i = 0; i < 3; ++i) {
      FreeBody body{shapes[i]};
      body.X_WB.p = {0.02 * i, -0.01 * i, heights[i]};
      // the cylinder's axis is x: upright
      if (i == 2) body.X_WB.R = so3::exp(Vector3(0.0, -0.5 * M_PI, 0.0));
      body.inertia = inertia_of(shapes[i], 1.0);
      bodies.push_back(body);
    }
    Setup setup = free_setup(bodies, true, 0.5, warm_options(0.01, kappa));
    const VectorX start = setup.state.q;
    const Ran ran = run(setup, 200, "silico_stack_3d", "A cylinder on a box on a padded hexagon", out);
    double moved = 0.0;
    for (int i = 0; i < 3; ++i) moved = std::max(moved, (ran.state.q - start).segment<3>(7 * i).norm());
    const double speed = ran.state.v.cwiseAbs().maxCoeff();
    out.text += cli::formatted("  %.0e  %.1e   %16.1e   %13ld  %6ld\n", kappa, moved, speed, ran.count.second_tries,
                               ran.count.failures);
    out.data["runs"].push_back(summary(ran));
    out.met = out.met && ran.count.failures == 0 && moved < 100.0 * kappa && ran.worst_violation < 1e-8;
  }
  return out;
}

Outcome silico_peg_3d(const Request& /*request*/) {
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
  const Ran ran = run(setup, 500, "silico_peg_3d", "A square peg goes into its hole", out);
  const double tilt = ran.state.q.segment<2>(3).norm();
  out.text = cli::formatted("  the peg is at (%.4f, %.4f, %.4f), tilted by %.1e; in the hole z is %.4f\n",
                            ran.state.q[0], ran.state.q[1], ran.state.q[2], 2.0 * tilt, s) +
             counts(ran);
  out.data = summary(ran);
  // while it is jammed between four walls a step may end short of its tolerance
  out.met =
      std::abs(ran.state.q[2] - s) < 1e-3 && tilt < 0.005 && ran.count.failures <= 5 && ran.worst_violation < 1e-8;
  return out;
}

Outcome silico_bundles_3d(const Request& /*request*/) {
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
  const Ran ran = run(setup, 500, "silico_bundles_3d", "A union and a Minkowski sum fall", out);
  for (int i = 0; i < 2; ++i)
    out.text += cli::formatted("  %s: (%.3f, %.3f, %.3f), speed %.1e\n", i == 0 ? "union" : "sum  ", ran.state.q[7 * i],
                               ran.state.q[7 * i + 1], ran.state.q[7 * i + 2], ran.state.v.segment<6>(6 * i).norm());
  out.text += counts(ran);
  out.data = summary(ran);
  // what is round may roll on
  out.met = ran.count.failures == 0 && ran.worst_violation < 1e-6 && ran.state.v.segment<6>(0).norm() < 1e-2 &&
            ran.state.q[2] < 0.5 && ran.state.q[9] < 1.0;
  return out;
}

Outcome silico_bundles(const Request& /*request*/) {
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
  const Ran ran = run(setup, 250, "silico_bundles", "A union and a Minkowski sum fall", out);
  for (int i = 0; i < 2; ++i)
    out.text += cli::formatted("  %s: (%.3f, %.3f), turned by %.3f, speed %.1e\n", i == 0 ? "union" : "sum  ",
                               ran.state.q[3 * i], ran.state.q[3 * i + 1], ran.state.q[3 * i + 2],
                               ran.state.v.segment<3>(3 * i).norm());
  out.text += counts(ran);
  out.data = summary(ran);
  out.met = ran.count.failures == 0 && ran.worst_violation < 1e-4 && ran.state.q.allFinite();
  return out;
}

}  // namespace tangere::experiments
