/// Moving the origin of a shape to its centroid.
///
/// A polytope {A p ≤ b} whose origin may lie outside first needs any interior point: the centre of its largest ball,
/// the linear program  max r,  â_i · p + r ≤ b̂_i  (unit rows). Any p is feasible with r the smallest b̂_i − â_i · p,
/// so an active set climbs from p = 0 and can stop wherever rounding ends it: what it has is always a true ball.

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <Eigen/QR>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/shape.hpp"
#include "tangere/math/check.hpp"

namespace tangere {
namespace {

struct InnerBall {
  Vector3 center;
  double radius;
};

InnerBall largest_inner_ball(const MatrixX3& normals, const VectorX& distances) {
  // one row (â_i, 1) a face, in units of the largest distance; x = (p, r)
  const double unit = distances.cwiseAbs().maxCoeff() > 0.0 ? distances.cwiseAbs().maxCoeff() : 1.0;
  const Eigen::Index count = normals.rows();
  Eigen::Matrix<double, Eigen::Dynamic, 4> rows(count, 4);
  rows << normals, VectorX::Ones(count);
  const VectorX limits = distances / unit;
  Eigen::Vector4d x(0.0, 0.0, 0.0, limits.minCoeff());

  // active faces, whose rows are independent
  std::vector<Eigen::Index> active;
  const auto is_active = [&](Eigen::Index i) { return std::find(active.begin(), active.end(), i) != active.end(); };
  const Eigen::Index most_iterations = 100 + 20 * count;
  for (Eigen::Index iteration = 0; iteration < most_iterations; ++iteration) {
    // steepest way up r along the active faces; e₄ = N pressures + up
    Eigen::Matrix<double, 4, Eigen::Dynamic, 0, 4, 4> N(4, static_cast<Eigen::Index>(active.size()));
    for (std::size_t k = 0; k < active.size(); ++k) N.col(static_cast<Eigen::Index>(k)) = rows.row(active[k]);
    Eigen::Vector4d up = Eigen::Vector4d::UnitW();
    Eigen::VectorXd pressures;
    if (!active.empty()) {
      pressures = N.colPivHouseholderQr().solve(up);
      up -= N * pressures;
    }

    if (active.size() == 4 || up.norm() <= 1e-10) {
      // at the end of the way: the first face (Bland) that pulls instead of pressing is let go
      int pulling = -1;
      for (std::size_t k = 0; k < active.size(); ++k)
        if (pressures[static_cast<Eigen::Index>(k)] < -1e-12 && (pulling < 0 || active[k] < active[pulling]))
          pulling = static_cast<int>(k);
      if (pulling < 0) break;
      active.erase(active.begin() + pulling);
      continue;
    }

    up.normalize();
    Eigen::Index blocking = -1;
    double step = 0.0;
    for (Eigen::Index i = 0; i < count; ++i) {
      const double rate = rows.row(i).dot(up);
      if (rate <= 1e-12 || is_active(i)) continue;
      const double reach = std::max(0.0, limits[i] - rows.row(i).dot(x)) / rate;
      if (blocking >= 0 && reach >= step) continue;
      blocking = i;
      step = reach;
    }
    if (blocking < 0) {
      // unbounded: far enough inside
      x += (1.0 + std::abs(x[3])) / up[3] * up;
      break;
    }
    x += step * up;
    active.push_back(blocking);
  }
  const Vector3 center = x.head<3>();
  return {unit * center, unit * (limits - rows.leftCols<3>() * center).minCoeff()};
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
    const Vector3 center = internal::with_prefix("padded_polygon", [&] { return interior_point(A, b, "C", "d"); });
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
    const Vector3 center = internal::with_prefix(type, [&] { return interior_point(given.A, given.b, "A", "b"); });
    return {{given.A, given.b - given.A * center}, center};
  }
};

}  // namespace

Recentred recentred(const ShapeSpec& spec) { return std::visit(Recentre{}, spec); }

}  // namespace tangere
