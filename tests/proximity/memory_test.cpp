/// Answers are the same bits wherever shapes are built: their rows and supports are laid out from matrices that lie
/// anywhere.

#include <gtest/gtest.h>

#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/taken_memory.hpp"

namespace tangere::test {
namespace {

class Memory : public testing::TestWithParam<NamedShape> {};

Pose placed(const Vector3& p, const Vector3& turn) {
  Vector6 tangent;
  tangent << p, turn;
  return Pose().perturbed(tangent);
}

TEST_P(Memory, DoesNotChangeAnswers) {
  const Shape& shape = GetParam().shape;
  const Shape other = Capsule{.radius = 0.3, .length = 0.7};
  const Pose X_A = placed({0.1, -0.2, 0.3}, {0.3, 0.5, -0.2});
  const Pose X_B = placed({1.1, 0.7, 1.3}, {-0.4, 0.2, 0.9});
  const auto answers = [&](const Shape& A, const Shape& B) {
    ScalingWorkspace scalings;
    DistanceWorkspace distances;
    VectorX all(23);
    const Scaling conic = scaling(A, X_A, B, X_B, {.method = ScalingMethod::conic}, scalings);
    const Scaling support = scaling(A, X_A, B, X_B, {}, scalings);
    const Distance far = distance(A, X_A, B, X_B, {}, distances);
    all << conic.alpha, conic.x, conic.normal, support.alpha, support.x, support.normal, far.distance, far.p_A, far.p_B,
        conic.gap, support.gap;
    return all;
  };
  const VectorX first = answers(shape, other);
  for (std::size_t moved = 1; moved < 4; ++moved) {
    const TakenMemory taken(moved);
    const VectorX again = answers(shape.with_parameters(shape.parameters()), other.with_parameters(other.parameters()));
    EXPECT_EQ(again, first) << moved;
  }
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Memory, testing::ValuesIn(all_shapes()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

}  // namespace
}  // namespace tangere::test
