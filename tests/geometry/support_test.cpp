#include "tangere/geometry/support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tangere/geometry/bounds.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

class Support : public testing::TestWithParam<NamedShape> {};

TEST_P(Support, IsHomogeneousAndMonotone) {
  const Shape& shape = GetParam().shape;
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Vector3 n = random.unit_vector();
    const Vector3 m = random.unit_vector();
    const Vector3 p = support(shape, n);
    const double size = p.norm();
    // the same for any length of n
    EXPECT_NEAR(n.dot(support(shape, 1e-7 * n)), n.dot(p), 1e-12 * size);
    EXPECT_NEAR(n.dot(support(shape, 1e7 * n)), n.dot(p), 1e-12 * size);
    // no other point of the shape is farther
    EXPECT_LE(n.dot(support(shape, m)), n.dot(p) + 1e-12 * size);
  }
  EXPECT_TRUE(support(shape, Vector3::Zero()).allFinite());
}

TEST_P(Support, BoundsAreTight) {
  const Shape& shape = GetParam().shape;
  Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const Pose X(random.rotation(), random.normal3());
    const Aabb box = bounds(shape, X);
    for (int k = 0; k < 3; ++k) {
      const Vector3 axis = Vector3::Unit(k);
      EXPECT_NEAR(box.upper[k], (X * support(shape, X.R.transpose() * axis))[k], 1e-12 * (1.0 + X.p.norm()));
      EXPECT_NEAR(box.lower[k], (X * support(shape, -(X.R.transpose() * axis)))[k], 1e-12 * (1.0 + X.p.norm()));
    }
  }
}

/// All but the half-space, which has a support along its normal only (below).
std::vector<NamedShape> bounded_shapes() {
  std::vector<NamedShape> selected;
  for (const NamedShape& named : all_shapes())
    if (!named.shape.is_half_space()) selected.push_back(named);
  return selected;
}

INSTANTIATE_TEST_SUITE_P(BoundedShapes, Support, testing::ValuesIn(bounded_shapes()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

TEST(SupportMap, HalfSpaceAnswersAlongItsNormalOnly) {
  const Shape shape = HalfSpace{.normal = {0.0, 0.0, 2.0}, .offset = 3.0};
  EXPECT_NEAR_ABSOLUTE(support(shape, Vector3(0.0, 0.0, 5.0)), Vector3(0.0, 0.0, 1.5), 1e-15);
  EXPECT_TRUE(std::isnan(support(shape, Vector3(0.0, 0.1, 5.0))[0]));
  EXPECT_TRUE(std::isnan(support(shape, Vector3(0.0, 0.0, -1.0))[0]));
}

TEST(Bounds, OfAHalfSpace) {
  const Shape shape = HalfSpace{.normal = {0.0, 0.0, 2.0}, .offset = 3.0};
  const Aabb box = bounds(shape, Pose::translation(Vector3(1.0, 1.0, 1.0)));
  EXPECT_EQ(box.upper[2], 2.5);
  EXPECT_TRUE(std::isinf(box.lower[2]) && std::isinf(box.lower[0]) && std::isinf(box.upper[0]));
}

/// What vector registers read, and what shapes carry with them.
TEST(SupportTerms, LieInWholeLinesAndNear) {
  constexpr std::uintptr_t kLine = 64;
  Random random(4);
  std::vector<NamedShape> shapes = all_shapes();
  // many terms, of vertices and turned ones between them
  const Polytope hull =
      Polytope::from_vertices((MatrixX3(4, 3) << 1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1).finished());
  std::vector<ShapePart> parts;
  for (int i = 0; i < 4; ++i)
    parts.push_back({hull, Pose(i == 1 ? Matrix3(Matrix3::Identity()) : random.rotation(), Vector3::Zero())});
  shapes.push_back({"four hulls", MinkowskiSum{parts}});
  for (const NamedShape& entry : shapes) {
    SCOPED_TRACE(entry.name);
    const Shape copy = entry.shape;
    const SupportTerms* block = copy.support_terms();
    if (block == nullptr) continue;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kLine, 0U);
    const SupportTerms* near = copy.near_support_terms();
    EXPECT_EQ(near == block, block->num_terms > 1);
    EXPECT_EQ(near->num_terms, block->num_terms);
    EXPECT_EQ(near->set, block->set);
    for (int k = 0; k < block->num_terms; ++k) {
      const SupportTerm& term = block->terms()[k];
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(term.vertices) % kLine, 0U);
      EXPECT_EQ(near->terms()[k].vertices, term.vertices);
      EXPECT_EQ(near->terms()[k].kind, term.kind);
      EXPECT_NEAR_ABSOLUTE(Matrix3(term.R() * term.R().transpose()), Matrix3(Matrix3::Identity()), 1e-14);
      EXPECT_EQ(term.turned, !term.R().isIdentity(0.0));
      if (entry.name == "four hulls") {
        EXPECT_EQ(term.R(), parts[k].X.R);
      }
    }
  }
}

TEST(SupportMap, KnownPoints) {
  const Shape cone = Cone{.height = 4.0, .half_angle = std::atan(0.5)};
  EXPECT_NEAR_ABSOLUTE(support(cone, Vector3(-1.0, 0.1, 0.0)), Vector3(-3.0, 0.0, 0.0), 1e-14);
  EXPECT_NEAR_ABSOLUTE(support(cone, Vector3(0.1, 0.0, -1.0)), Vector3(1.0, 0.0, -2.0), 1e-14);
  const Shape capsule = Capsule{.radius = 1.0, .length = 2.0};
  EXPECT_NEAR_ABSOLUTE(support(capsule, Vector3(3.0, 4.0, 0.0)), Vector3(1.6, 0.8, 0.0), 1e-14);
}

}  // namespace
}  // namespace tangere::test
