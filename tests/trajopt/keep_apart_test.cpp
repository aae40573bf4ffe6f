#include "tangere/trajopt/keep_apart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/math/random.hpp"
#include "tangere/trajopt/function_dynamics.hpp"
#include "tangere/trajopt/optimizer.hpp"
#include "tangere/trajopt/verification.hpp"
#include "tangere/trajopt/world_dynamics.hpp"
#include "tests/support/finite_difference.hpp"

namespace tangere {
namespace {

constexpr double kWheelbase = 2.5;

/// The car of DiffPills: (x, y, θ, v, γ), controls v̇ and γ̇.
StateFunction car() {
  return runge_kutta(5, 2, [](const VectorX& x, const VectorX& u, double, VectorX& rate, FunctionJacobians* J) {
    const double c = std::cos(x[2]), s = std::sin(x[2]), t = std::tan(x[4]);
    rate << x[3] * c, x[3] * s, x[3] * t / kWheelbase, u[0], u[1];
    if (J == nullptr) return;
    J->x(0, 2) = -x[3] * s;
    J->x(0, 3) = c;
    J->x(1, 2) = x[3] * c;
    J->x(1, 3) = s;
    J->x(2, 3) = t / kWheelbase;
    J->x(2, 4) = x[3] * (1.0 + t * t) / kWheelbase;
    J->u(3, 0) = 1.0;
    J->u(4, 1) = 1.0;
  });
}

void pose_of_car(const Knot& knot, Pose& X, Eigen::Ref<MatrixX>* J) {
  const double c = std::cos(knot.x[2]), s = std::sin(knot.x[2]);
  X.p = {knot.x[0], knot.x[1], 0.0};
  X.R << c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0;
  if (J == nullptr) return;
  (*J)(0, 0) = (*J)(1, 1) = (*J)(5, 2) = 1.0;
}

VectorX vector(std::initializer_list<double> values) {
  VectorX out(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

OptimalControl car_round_the_bus(KeepApart::Metric metric) {
  const double kFree = std::numeric_limits<double>::infinity();
  OptimalControl problem(std::make_shared<FunctionDynamics>(5, 2, car()),
                         {vector({-12.0, 0.0, 0.0, 0.0, 0.0}), constant_steps(60, 0.1)});
  const VectorX goal = vector({12.0, -3.0, 0.0, 0.0, 0.0});
  problem.add(ControlCost{.weight = vector({0.1, 1.0})});
  problem.add(ControlBounds{.lower = vector({-6.0, -0.9}), .upper = vector({6.0, 0.9})});
  problem.add(StateBounds{.lower = vector({-kFree, -kFree, -kFree, -kFree, -0.6}),
                          .upper = vector({kFree, kFree, kFree, kFree, 0.6})});
  problem.add(Reach{.target = goal});
  add(problem, {.name = "bus",
                .movers = {{"car", Capsule{1.0, 2.5}, pose_of_car}},
                .obstacles = {fixed("bus", Capsule{1.5, 8.0}, Pose{})},
                .metric = metric,
                .margin = 0.02});
  return problem;
}

class KeepApartMetrics : public testing::TestWithParam<KeepApart::Metric> {};

/// From the straight line through the bus.
TEST_P(KeepApartMetrics, CarGoesRoundTheBus) {
  const OptimalControl problem = car_round_the_bus(GetParam());
  Optimizer optimizer(problem, {.constraint_tolerance = 1e-6, .barrier = 1.0, .slack = 1.0});
  const OptimizeResult& result = optimizer.solve(Guess::line(problem, vector({12.0, -3.0, 0.0, 0.0, 0.0})));
  ASSERT_EQ(result.status, OptimizeStatus::solved) << to_string(result.status) << " " << result.name;
  const Verification fine = verify(problem, result.plan, {.refine = 10});
  EXPECT_LE(fine.strays, 1e-4);
  EXPECT_LE(fine.equality, 1e-3);
  EXPECT_LE(fine.inequality, 2e-2);
}

INSTANTIATE_TEST_SUITE_P(All, KeepApartMetrics,
                         testing::Values(KeepApart::Metric::distance, KeepApart::Metric::scaling));

/// Bodies of a model: gradients against differences along the manifold, with shapes off their bodies' origins.
TEST(KeepApart, GradientsOfBodiesMatchDifferences) {
  ModelBuilder builder("two boxes");
  for (const char* name : {"a", "b"}) {
    BodySpec body{.name = name, .inertia = mass_properties(Box{.size = {1.0, 0.6, 0.4}}, 1.0)};
    body.shapes.push_back(
        {.name = "box", .shape = Ellipsoid{.semi_axes = {0.5, 0.3, 0.2}}, .X_BS = Pose::translation({0.1, -0.2, 0.3})});
    builder.add_body(std::move(body), {.name = std::string(name) + "_joint", .type = JointType::free});
  }
  const auto dynamics = std::make_shared<WorldDynamics>(World(builder.build()));
  Random random(5);
  for (const KeepApart::Metric metric : {KeepApart::Metric::distance, KeepApart::Metric::scaling}) {
    VectorX x = VectorX::Zero(dynamics->nx());
    x.segment<3>(0) = random.normal3();
    x.segment<4>(3) = Pose::rotation(random.rotation()).quaternion();
    x.segment<3>(7) = 3.0 * random.unit_vector();
    x.segment<4>(10) = Pose::rotation(random.rotation()).quaternion();
    OptimalControl problem(dynamics, {x, constant_steps(2, 0.01)});
    add(problem, {.movers = colliders_of(*dynamics, "a"), .obstacles = colliders_of(*dynamics, "b"), .metric = metric});
    const KnotFunction& gap = *problem.terms().front().function;
    const VectorX u = VectorX::Zero(dynamics->nu());
    KnotMemory memory(*dynamics);
    const int ndx = dynamics->ndx();
    const MatrixX expected = test::finite_difference(
        [&](const VectorX& d) -> VectorX {
          VectorX moved;
          dynamics->plus(x, d, moved);
          VectorX value(1);
          memory.forget();
          gap.evaluate({1, 0.0, 0.01, moved, u, *dynamics, memory}, value, nullptr);
          return value;
        },
        ndx, 1, 0.01);
    RowMatrixX J = RowMatrixX::Zero(1, ndx + dynamics->nu());
    KnotJacobians jacobians{J.leftCols(ndx), J.rightCols(dynamics->nu())};
    VectorX value(1);
    memory.forget();
    gap.evaluate({1, 0.0, 0.01, x, u, *dynamics, memory}, value, &jacobians);
    EXPECT_LE((J.leftCols(ndx) - expected).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_GT(expected.cwiseAbs().maxCoeff(), 0.1);
  }
}

}  // namespace
}  // namespace tangere
