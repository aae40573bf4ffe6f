/// Moving the origin of a shape to its centroid.
///
/// A polytope {A p ≤ b} whose origin may lie outside first needs any interior point: the centre of its largest ball,
/// the linear program  max r,  â_i · p + r ≤ b̂_i  (unit rows), together with |p_k| ≤ B and r ≤ B for a large B. Its
/// dual
///
///   min Σ λ_i b̂_i,   Σ λ_i (â_i, 1) = (0, 0, 0, 1),   λ ≥ 0
///
/// has four equations: the simplex method with Bland's rule (no cycling) on a basis of four columns, which the box
/// provides to begin with. (p, r) are its multipliers.

#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include <Eigen/LU>

#include "tangere/geometry/check.hpp"
#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere {
namespace {

struct InnerBall {
  Vector3 center;
  double radius;
};

InnerBall largest_inner_ball(const MatrixX3& normals, const VectorX& distances) {
  // the columns of the box, then those of the faces, in units of the largest distance
  const double unit = distances.cwiseAbs().maxCoeff() > 0.0 ? distances.cwiseAbs().maxCoeff() : 1.0;
  constexpr double kBox = 1e8;
  const Eigen::Index count = 7 + normals.rows();
  MatrixX columns = MatrixX::Zero(4, count);
  VectorX costs(count);
  for (int k = 0; k < 3; ++k) {
    columns(k, 2 * k) = 1.0;
    columns(k, 2 * k + 1) = -1.0;
  }
  columns(3, 6) = 1.0;
  costs.head<7>().setConstant(kBox);
  columns.topRightCorner(3, normals.rows()) = normals.transpose();
  columns.bottomRightCorner(1, normals.rows()).setOnes();
  costs.tail(normals.rows()) = distances / unit;

  Eigen::Index basis[4] = {0, 2, 4, 6};
  Eigen::Vector4d multipliers;
  for (int iteration = 0; iteration < 100000; ++iteration) {
    Eigen::Matrix4d B;
    Eigen::Vector4d c;
    for (int j = 0; j < 4; ++j) {
      B.col(j) = columns.col(basis[j]);
      c[j] = costs[basis[j]];
    }
    const Eigen::FullPivLU<Eigen::Matrix4d> lu(B);
    multipliers = lu.inverse().transpose() * c;

    // entering: the first column that costs less than its multipliers say
    Eigen::Index entering = 0;
    while (entering < count &&
           costs[entering] - columns.col(entering).dot(multipliers) >= -1e-12 * (1.0 + std::abs(multipliers.norm())))
      ++entering;
    if (entering == count) break;

    // leaving: the smallest ratio, of equals the smallest index
    const Eigen::Vector4d weights = lu.solve(Eigen::Vector4d::UnitW());
    const Eigen::Vector4d direction = lu.solve(Eigen::Vector4d(columns.col(entering)));
    int leaving = -1;
    double smallest = 0.0;
    for (int j = 0; j < 4; ++j) {
      if (direction[j] <= 1e-13) continue;
      const double ratio = weights[j] / direction[j];
      if (leaving >= 0 && (ratio > smallest || (ratio == smallest && basis[j] > basis[leaving]))) continue;
      leaving = j;
      smallest = ratio;
    }
    if (leaving < 0) break;
    basis[leaving] = entering;
  }
  return {unit * multipliers.head<3>(), unit * multipliers[3]};
}

/// A point strictly inside {A p ≤ b}. Fields of errors as in `hull_of_half_spaces`.
Vector3 interior_point(const MatrixX3& A, const VectorX& b, const std::string& faces, const std::string& offsets) {
  if (A.rows() != b.size())
    throw InputError(offsets, "must have one entry a row of " + faces + ", got " + std::to_string(b.size()) + " for " +
                                  std::to_string(A.rows()));
  if (A.rows() == 0) throw InputError(faces, "must not be empty");
  if (!A.allFinite()) throw InputError(faces, "must be finite");
  if (!b.allFinite()) throw InputError(offsets, "must be finite");
  const VectorX norms = A.rowwise().norm();
  if (!(norms.minCoeff() > 0.0)) throw InputError(faces, "must not have a zero row");
  const VectorX distances = b.cwiseQuotient(norms);
  const InnerBall ball = largest_inner_ball(norms.cwiseInverse().asDiagonal() * A, distances);
  if (!(ball.radius > 1e-12 * distances.cwiseAbs().maxCoeff()))
    throw InputError(faces, "empty, no point is strictly inside all faces");
  return ball.center;
}

struct Recentre {
  Recentred operator()(const Polytope& given) const {
    auto [moved, center] = moved_inside("polytope", given);
    const Vector3 centroid = mass_properties(Shape(moved)).center;
    moved.b -= moved.A * centroid;
    return {Shape(moved), Pose::translation(center + centroid)};
  }

  Recentred operator()(const RoundedPolytope& given) const {
    RoundedPolytope moved = given;
    Vector3 center;
    std::tie(moved.core, center) = moved_inside("rounded_polytope", given.core);
    const Vector3 centroid = mass_properties(Shape(moved)).center;
    moved.core.b -= moved.core.A * centroid;
    return {Shape(moved), Pose::translation(center + centroid)};
  }

  Recentred operator()(const PaddedPolygon& given) const {
    const Eigen::Index count = given.C.rows();
    const bool usable = count > 0 && given.d.size() == count && given.C.allFinite() && given.d.allFinite() &&
                        given.C.rowwise().norm().minCoeff() > 0.0;
    if (!usable) return {Shape(given), Pose()};  // which says what is wrong

    // in space, between two planes that are as far as the farthest edge
    const double height = given.d.cwiseQuotient(given.C.rowwise().norm()).cwiseAbs().maxCoeff();
    MatrixX3 A = MatrixX3::Zero(count + 2, 3);
    A.topLeftCorner(count, 2) = given.C;
    A(count, 2) = 1.0;
    A(count + 1, 2) = -1.0;
    VectorX b(count + 2);
    b << given.d, height, height;
    const Vector3 center = detail::with_prefix("padded_polygon", [&] { return interior_point(A, b, "C", "d"); });
    PaddedPolygon moved = given;
    moved.d -= moved.C * center.head<2>();
    const Vector3 centroid = mass_properties(Shape(moved)).center;
    moved.d -= moved.C * centroid.head<2>();
    return {Shape(moved), Pose::translation(Vector3(center[0] + centroid[0], center[1] + centroid[1], 0.0))};
  }

  Recentred operator()(const MinkowskiSum& given) const {
    Vector3 center = Vector3::Zero();
    for (const ShapePart& part : given.parts) center += part.X.p;
    MinkowskiSum moved = given;
    if (!moved.parts.empty()) moved.parts.front().X.p -= center;
    const Vector3 centroid = mass_properties(Shape(moved)).center;
    moved.parts.front().X.p -= centroid;
    return {Shape(moved), Pose::translation(center + centroid)};
  }

  /// Always about their centroid, or without one.
  template <class Spec>
  Recentred operator()(const Spec& given) const {
    return {Shape(given), Pose()};
  }

 private:
  static std::pair<Polytope, Vector3> moved_inside(const std::string& type, const Polytope& given) {
    const Vector3 center = detail::with_prefix(type, [&] { return interior_point(given.A, given.b, "A", "b"); });
    return {{given.A, given.b - given.A * center}, center};
  }
};

}  // namespace

Recentred recentred(const ShapeSpec& spec) { return std::visit(Recentre{}, spec); }

}  // namespace tangere
