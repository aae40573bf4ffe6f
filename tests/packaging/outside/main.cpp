// Uses the installed library as a stranger would. Compiled without native flags, linked to a library that may have
// them: values and heap memory must cross that border unharmed.

#include <cmath>
#include <cstdio>
#include <utility>

#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/tangere.hpp"
#include "tangere/version.hpp"

namespace {

int num_failures = 0;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "outside project: %s\n", what);
  ++num_failures;
}

void poses() {
  tangere::Random random(1);
  for (int i = 0; i < 100; ++i) {
    const tangere::Pose X_WA(random.rotation(), random.normal3());
    const tangere::Pose X_AB = tangere::se3::exp(tangere::Vector6::Random());
    const tangere::Pose X_WB = X_WA * X_AB;

    const tangere::Vector6 xi = tangere::se3::log(X_WA.inverse() * X_WB);
    expect((tangere::se3::exp(xi).p - X_AB.p).norm() < 1e-12, "exp and log of a pose disagree");
    expect((tangere::se3::right_jacobian(xi) * tangere::se3::right_jacobian_inverse(xi) - tangere::Matrix6::Identity())
                   .norm() < 1e-12,
           "the right Jacobian and its inverse disagree");
    expect((tangere::so3::exp(tangere::so3::log(X_WB.R)) - X_WB.R).norm() < 1e-12,
           "exp and log of a rotation disagree");
  }
}

// matrices allocated here and freed there, and the other way round
void shapes() {
  tangere::MatrixX3 vertices(8, 3);
  for (int i = 0; i < 8; ++i) vertices.row(i) << (i & 1 ? 1 : -1), (i & 2 ? 2 : -2), (i & 4 ? 3 : -3);
  tangere::Polytope polytope = tangere::Polytope::from_vertices(vertices);
  expect(polytope.A.rows() == 6 && polytope.b.size() == 6, "the hull of a box has not six faces");

  const tangere::Shape shape = std::move(polytope);
  const tangere::Vector3 corner = tangere::support(shape, tangere::Vector3(1, 1, 1));
  expect((corner - tangere::Vector3(1, 2, 3)).norm() < 1e-12, "the support of a box is not its corner");
  const tangere::Shape same = shape.with_parameters(shape.parameters());
  expect(same.parameters() == shape.parameters(), "a shape does not keep its parameters");
}

// a query with everything that comes back from it
void queries() {
  const tangere::Shape ball = tangere::Sphere{0.5};
  const tangere::Shape crate = tangere::Box{{1, 2, 3}};
  tangere::ScalingWorkspace workspace;
  const tangere::Pose X_WB = tangere::Pose::translation({3, 0, 0});
  const tangere::Scaling result = tangere::scaling(ball, {}, crate, X_WB, {}, workspace);
  expect(result.status == tangere::ScalingStatus::solved, "the query was not solved");
  expect(std::abs(result.alpha - 3.0) < 1e-7, "alpha of a ball and a box is wrong");
  expect((result.normal - tangere::Vector3(1, 0, 0)).norm() < 1e-7, "the normal is wrong");
  const tangere::Vector12 gradient = tangere::scaling_gradient(workspace);
  expect(std::abs(gradient[6] - 1.0) < 1e-7, "the gradient is wrong");
  expect(tangere::scaling_jacobian(workspace).x_alpha.allFinite(), "the Jacobian is not finite");
  tangere::VectorX d_ball;
  tangere::VectorX d_crate;
  tangere::scaling_parameter_gradient(workspace, d_ball, d_crate);
  expect(d_ball.size() == 1 && d_crate.size() == 3, "the parameter gradients have the wrong size");
}

void errors() {
  try {
    (void)tangere::Pose::from_quaternion(tangere::Vector3::Zero(), 0, 0, 0, 0);
    expect(false, "a zero quaternion was accepted");
  } catch (const tangere::InputError& error) {
    expect(error.field() == "quaternion", "the error does not name its field");
  }
}

}  // namespace

int main() {
  poses();
  shapes();
  queries();
  errors();
  expect(tangere::kVersion == "0.1.0", "unexpected version");

  if (num_failures == 0) std::printf("outside project: tangere %.*s works\n", 5, tangere::kVersion.data());
  return num_failures == 0 ? 0 : 1;
}
