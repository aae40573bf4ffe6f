/// Mass properties against Monte Carlo over an independent membership test, closed forms, and exact against refined.

#include "tangere/geometry/mass_properties.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "tangere/geometry/bounds.hpp"
#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/random_shapes.hpp"
#include "tests/support/taken_memory.hpp"

namespace tangere::test {
namespace {

constexpr double kPi = std::numbers::pi;

/// Membership by tangent planes, in the directions of a mesh's triangles: exact at flat faces, elsewhere outer by the
/// square of the mesh's step.
class Planes {
 public:
  explicit Planes(const Shape& shape) {
    const TriangleMesh surface = mesh(shape, {.resolution = 48});
    std::vector<Vector3> normals;
    for (const auto& [a, b, c] : surface.triangles) {
      const auto at = [&](int i) -> const Vector3& { return surface.vertices[i]; };
      const Vector3 normal = (at(b) - at(a)).cross(at(c) - at(a));
      if (normal.norm() > 0.0) normals.push_back(normal.normalized());
    }
    normals_.resize(static_cast<Eigen::Index>(normals.size()), 3);
    offsets_.resize(normals_.rows());
    for (Eigen::Index i = 0; i < normals_.rows(); ++i) {
      const Vector3& n = normals[i];
      normals_.row(i) = n.transpose();
      offsets_[i] = n.dot(support(shape, n));
    }
  }

  [[nodiscard]] bool contain(const Vector3& p) const {
    for (Eigen::Index i = 0; i < normals_.rows(); ++i)
      if (normals_.row(i).dot(p) > offsets_[i]) return false;
    return true;
  }

 private:
  MatrixX3 normals_;
  VectorX offsets_;
};

struct Sampled {
  double mass;
  Vector3 center;
  Matrix3 inertia;
};

Sampled sample(const Shape& shape, const Aabb& box, int count, std::uint64_t seed) {
  const Planes planes(shape);
  Random random(seed);
  int inside = 0;
  Vector3 first = Vector3::Zero();
  Matrix3 second = Matrix3::Zero();
  for (int i = 0; i < count; ++i) {
    const Vector3 u(random.uniform(), random.uniform(), random.uniform());
    const Vector3 p = box.lower + u.cwiseProduct(box.upper - box.lower);
    if (!planes.contain(p)) continue;
    ++inside;
    first += p;
    second += p * p.transpose();
  }
  const double each = (box.upper - box.lower).prod() / count;
  const Vector3 center = first / inside;
  const Matrix3 covariance = each * (second - first * center.transpose());
  return {each * inside, center, covariance.trace() * Matrix3::Identity() - covariance};
}

class Mass : public testing::TestWithParam<NamedShape> {};

/// Convex solids, whose points the support map tells; a bundle's mass is tested as that of its parts.
class ConvexMass : public testing::TestWithParam<NamedShape> {};

TEST_P(ConvexMass, AgreesWithMonteCarlo) {
  const Shape& shape = GetParam().shape;
  const MassProperties mass = mass_properties(shape, 1.0);
  // in the principal axes, where the box is as full as it gets
  const Matrix3 R = Eigen::SelfAdjointEigenSolver<Matrix3>(mass.inertia).eigenvectors();
  const Matrix3 turn = R.determinant() < 0.0 ? Matrix3(-R) : R;
  const Shape turned = MinkowskiSum{{{shape, Pose(turn.transpose(), Vector3::Zero())}}};
  const Aabb box = bounds(turned);
  const Vector3 extent = box.upper - box.lower;
  const Sampled sampled = sample(turned, box, 40000, 7);

  // four standard deviations of the count, and what the planes leave outside
  const double fill = mass.mass / extent.prod();
  const double tolerance = 4.0 * std::sqrt((1.0 - std::min(fill, 0.999)) / fill / 40000.0) + 3e-3;
  EXPECT_NEAR(sampled.mass, mass.mass, tolerance * mass.mass);
  EXPECT_LE((sampled.center - turn.transpose() * mass.center).cwiseQuotient(extent).cwiseAbs().maxCoeff(), 0.01);
  const Matrix3 inertia = turn.transpose() * mass.inertia * turn;
  EXPECT_NEAR_RELATIVE(sampled.inertia, inertia, 0.03);
  // the spread along each axis by itself, which the inertia of a plate or needle hides
  const auto spread = [](const Matrix3& I) -> Vector3 { return Vector3::Constant(0.5 * I.trace()) - I.diagonal(); };
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(spread(sampled.inertia)[k] / spread(inertia)[k], 1.0, 0.06) << k;
}

TEST_P(Mass, SameBitsWhereverItsMemoryLies) {
  const Shape& shape = GetParam().shape;
  const MassProperties first = mass_properties(shape, 1.0);
  for (std::size_t moved = 1; moved < 4; ++moved) {
    const TakenMemory taken(moved);
    const MassProperties again = mass_properties(shape.with_parameters(shape.parameters()), 1.0);
    EXPECT_EQ(again.mass, first.mass);
    EXPECT_EQ(again.center, first.center);
    EXPECT_EQ(again.inertia, first.inertia);
  }
}

TEST_P(Mass, InertiaIsThatOfASolid) {
  const MassProperties mass = mass_properties(GetParam().shape, 2.0);
  EXPECT_GT(mass.mass, 0.0);
  const Vector3 moments = mass.inertia.selfadjointView<Eigen::Lower>().eigenvalues();
  EXPECT_GT(moments[0], 0.0);
  EXPECT_GT(moments[0] + moments[1], moments[2]);
  EXPECT_NEAR_RELATIVE(mass.inertia, Matrix3(mass.inertia.transpose()), 1e-15);
  EXPECT_NEAR(mass_properties(GetParam().shape, 6.0).mass, 3.0 * mass.mass, 1e-12 * mass.mass);
}

std::vector<NamedShape> solids() {
  std::vector<NamedShape> selected;
  for (const NamedShape& named : all_shapes())
    if (!named.shape.is_half_space()) selected.push_back(named);
  return selected;
}

INSTANTIATE_TEST_SUITE_P(AllShapes, ConvexMass, testing::ValuesIn(bounded_convex_shapes()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);
INSTANTIATE_TEST_SUITE_P(AllShapes, Mass, testing::ValuesIn(solids()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

void expect_equal(const MassProperties& a, const MassProperties& b, double tolerance) {
  EXPECT_NEAR(a.mass, b.mass, tolerance * b.mass);
  EXPECT_NEAR_RELATIVE(a.inertia, b.inertia, tolerance);
  EXPECT_NEAR_ABSOLUTE(a.center, b.center, tolerance * std::sqrt(b.inertia.trace() / b.mass));
}

TEST(MassProperties, ClosedForms) {
  const double R = 0.4;
  const double L = 1.5;
  const MassProperties cylinder = mass_properties(Cylinder{.radius = R, .length = L});
  EXPECT_NEAR(cylinder.inertia(1, 1), cylinder.mass * (3.0 * R * R + L * L) / 12.0, 1e-12 * cylinder.mass);
  EXPECT_NEAR(cylinder.inertia(0, 0), 0.5 * cylinder.mass * R * R, 1e-12 * cylinder.mass);

  // transverse inertia of a capsule's caps: m (L²/4 + 2R²/5 + 3LR/8)
  const MassProperties capsule = mass_properties(Capsule{.radius = R, .length = L});
  const double caps = 1000.0 * 4.0 / 3.0 * kPi * R * R * R;
  EXPECT_NEAR(capsule.mass, cylinder.mass + caps, 1e-10);
  EXPECT_NEAR(capsule.inertia(2, 2), cylinder.inertia(2, 2) + caps * (L * L / 4.0 + 0.4 * R * R + 0.375 * L * R),
              1e-10);
}

TEST(MassProperties, PaddedShapesReduceToEachOther) {
  Random random(1);
  // a thin rounded box along x is a capsule
  const double tiny = 1e-7;
  MatrixX3 A(6, 3);
  A << Matrix3::Identity(), -Matrix3::Identity();
  VectorX b(6);
  b << 0.7, tiny, tiny, 0.7, tiny, tiny;
  expect_equal(mass_properties(RoundedPolytope{{A, b}, 0.3}), mass_properties(Capsule{.radius = 0.3, .length = 1.4}),
               1e-5);
  // a thin rounded prism is a padded polygon
  const PaddedPolygon polygon = random_padded_polygon(random, 6);
  MatrixX3 C = MatrixX3::Zero(8, 3);
  VectorX d = VectorX::Constant(8, tiny);
  C.topLeftCorner(6, 2) = polygon.C;
  C(6, 2) = 1.0;
  C(7, 2) = -1.0;
  d.head(6) = polygon.d;
  expect_equal(mass_properties(RoundedPolytope{{C, d}, polygon.radius}), mass_properties(polygon), 1e-5);
}

TEST(MassProperties, ExactSumsAgreeWithTheShapesTheyAre) {
  Random random(2);
  const Pose X(random.rotation(), Vector3(0.05, 0.0, 0.02));
  const auto posed = [&](const MassProperties& m) {
    return MassProperties{m.mass, X * m.center, X.R * m.inertia * X.R.transpose()};
  };
  const Polytope core = random_polytope(random, 9);
  const Shape ball = Sphere{.radius = 0.2};
  expect_equal(mass_properties(MinkowskiSum{{{core, X}, {ball, Pose()}}}),
               posed(mass_properties(RoundedPolytope{core, 0.2})), 1e-12);
  expect_equal(mass_properties(MinkowskiSum{{{Capsule{0.1, 1.0}, X}, {ball, Pose()}}}),
               posed(mass_properties(Capsule{0.3, 1.0})), 1e-12);
  expect_equal(mass_properties(MinkowskiSum{{{ball, X}, {ball, Pose()}}}), posed(mass_properties(Sphere{0.4})), 1e-12);
  PaddedPolygon polygon = random_padded_polygon(random, 5);
  const Shape given = polygon;
  polygon.radius += 0.2;
  expect_equal(mass_properties(MinkowskiSum{{{given, X}, {ball, Pose()}}}), posed(mass_properties(polygon)), 1e-12);
}

/// Sums with a cylinder, cone or ellipsoid are integrated over a refined surface: checked where the answer is known.
TEST(MassProperties, RefinedSumsAreGoodToOneInAMillion) {
  Random random(3);
  const Pose X(random.rotation(), Vector3::Zero());
  const auto posed = [&](const MassProperties& m) {
    return MassProperties{m.mass, X * m.center, X.R * m.inertia * X.R.transpose()};
  };
  const Shape ellipsoid = Ellipsoid{.semi_axes = {0.5, 0.2, 0.3}};
  expect_equal(mass_properties(MinkowskiSum{{{ellipsoid, X}}}), posed(mass_properties(ellipsoid)), 1e-6);
  const Shape cone = Cone{.height = 1.0, .half_angle = 0.5};
  expect_equal(mass_properties(MinkowskiSum{{{cone, X}}}), posed(mass_properties(cone)), 1e-6);
  // a cylinder and a segment's worth of capsule: volume of K + rB by Steiner, V + r S + r² M + 4/3 π r³
  const double R = 0.4;
  const double L = 0.9;
  const double r = 0.25;
  const Shape padded = MinkowskiSum{{{Cylinder{R, L}, X}, {Sphere{r}, Pose()}}};
  const double mean_width = kPi * L + kPi * kPi * R;
  const double steiner =
      kPi * R * R * L + r * (2.0 * kPi * R * (R + L)) + r * r * mean_width + 4.0 / 3.0 * kPi * r * r * r;
  EXPECT_NEAR(mass_properties(padded, 1.0).mass / steiner, 1.0, 1e-6);
}

/// However thin the parts, and whichever way the sum is turned: both are good to 1e-6.
TEST(MassProperties, RefinedSumsOfThinParts) {
  const double thin = 1e-3;
  const Shape needle = Cylinder{thin, 1.0};
  const Matrix3 tilt = Eigen::AngleAxisd(0.4, Vector3::UnitY()).toRotationMatrix();
  Random random(11);
  for (const Shape& other : {Shape(Ellipsoid{Vector3(1.0, thin, std::sqrt(thin)), {}}), Shape(Cylinder{1.0, thin})}) {
    const auto mass = [&](const Matrix3& R) {
      const Shape sum = MinkowskiSum{{{other, Pose(R * tilt, Vector3::Zero())}, {needle, Pose(R, Vector3::Zero())}}};
      return posed(mass_properties(sum), Pose(R.transpose(), Vector3::Zero()));
    };
    expect_equal(mass(random.rotation()), mass(Matrix3::Identity()), 2e-6);
  }
}

TEST(MassProperties, MeshPosedAndCombined) {
  // a box as a mesh, far away and turned
  const Shape box = Box{{1.0, 2.0, 3.0}};
  const MassProperties whole = mass_properties(box, 500.0);
  const Pose X(so3::exp({0.3, -0.2, 0.9}), {40.0, -30.0, 20.0});
  TriangleMesh surface = mesh(box);
  for (Vector3& v : surface.vertices) v = X * v;
  const MassProperties moved = mass_properties(surface, 500.0);
  const MassProperties expected = posed(whole, X);
  EXPECT_NEAR(moved.mass, 3000.0, 1e-9);
  EXPECT_LT((moved.center - expected.center).norm(), 1e-12);
  EXPECT_LT((moved.inertia - expected.inertia).norm(), 1e-8);
  // two halves are the whole
  const MassProperties half = mass_properties(Box{{1.0, 2.0, 1.5}}, 500.0);
  const MassProperties halves[] = {posed(half, Pose::translation({0.0, 0.0, 0.75})),
                                   posed(half, Pose::translation({0.0, 0.0, -0.75}))};
  EXPECT_LT((combined(halves).inertia - whole.inertia).norm(), 1e-9);
  EXPECT_EQ(combined({}).mass, 0.0);
  // inside out, empty
  for (auto& t : surface.triangles) std::swap(t[0], t[1]);
  EXPECT_THROW((void)mass_properties(surface), InputError);
  EXPECT_THROW((void)mass_properties(TriangleMesh{}), InputError);
}

}  // namespace
}  // namespace tangere::test
