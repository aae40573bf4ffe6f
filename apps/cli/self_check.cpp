#include "apps/cli/self_check.hpp"

#include <cmath>
#include <limits>

#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere::cli {
namespace {

constexpr double kTolerance = 1e-8;

struct Case {
  std::string name;
  Shape a;
  Pose X_WA;
  Shape b;
  Pose X_WB;
  double alpha;
  Vector12 gradient;
};

/// dα/dr_A = -f, dα/dr_B = f, and torques.
Vector12 gradient_of(const Vector3& force, const Vector3& torque_a = Vector3::Zero(),
                     const Vector3& torque_b = Vector3::Zero()) {
  Vector12 gradient;
  gradient << -force, torque_a, force, torque_b;
  return gradient;
}

std::vector<Case> cases() {
  std::vector<Case> list;

  // spheres: |d| / (r_A + r_B)
  const Vector3 d(1.0, 2.0, 2.0);
  list.push_back({"sphere - sphere", Sphere{.radius = 0.5}, Pose(), Sphere{.radius = 0.7}, Pose::translation(d),
                  3.0 / 1.2, gradient_of(d / 3.0 / 1.2)});

  // sphere and half-space z ≤ 0: height / radius
  list.push_back({"sphere - half-space", Sphere{.radius = 0.8}, Pose::translation({0.3, -0.2, 2.0}),
                  HalfSpace{.normal = Vector3::UnitZ(), .offset = 0.0}, Pose(), 2.5,
                  gradient_of({0.0, 0.0, -1.25}, Vector3::Zero(), {0.25, 0.375, 0.0})});

  // aligned boxes: max |d_i| / (half sizes); of the gradient the forces only, for the touching point may slide
  list.push_back({"box - box", Box{.size = {1.0, 1.0, 1.0}}, Pose(), Box{.size = {2.0, 2.0, 2.0}},
                  Pose::translation({3.0, 0.5, -0.2}), 2.0, gradient_of({2.0 / 3.0, 0.0, 0.0})});
  list.back().gradient.segment<3>(3).setConstant(std::numeric_limits<double>::quiet_NaN());
  list.back().gradient.segment<3>(9).setConstant(std::numeric_limits<double>::quiet_NaN());

  // overlapping sphere and the side of a cylinder along x: d / (r_A + r_B)
  list.push_back({"sphere - cylinder", Sphere{.radius = 1.0}, Pose(), Cylinder{.radius = 0.5, .length = 4.0},
                  Pose::translation({0.1, 0.6, 0.0}), 0.4,
                  gradient_of({0.0, 2.0 / 3.0, 0.0}, Vector3::Zero(), {0.0, 0.0, -0.1 * 2.0 / 3.0})});
  return list;
}

SelfCheck check(const Case& c, ScalingWorkspace& workspace) {
  const Scaling result = scaling(c.a, c.X_WA, c.b, c.X_WB, ScalingOptions{.tolerance = 1e-10}, workspace);
  const Vector12 gradient = scaling_gradient(workspace);
  SelfCheck outcome{c.name, result.alpha, c.alpha, 0.0, false};
  for (int i = 0; i < 12; ++i) {
    // NaN: not known in closed form
    if (std::isnan(c.gradient[i])) continue;
    const double error = std::abs(gradient[i] - c.gradient[i]);
    if (!(error <= outcome.gradient_error)) outcome.gradient_error = error;
  }
  outcome.passed = result.status == ScalingStatus::solved && std::abs(result.alpha - c.alpha) <= kTolerance * c.alpha &&
                   outcome.gradient_error <= kTolerance;
  return outcome;
}

}  // namespace

std::vector<SelfCheck> run_self_checks() {
  ScalingWorkspace workspace;
  std::vector<SelfCheck> outcomes;
  for (const Case& c : cases()) outcomes.push_back(check(c, workspace));
  return outcomes;
}

}  // namespace tangere::cli
