/// Corners: points of a set as functions of the direction, and their derivatives (manifold_features.hpp).

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/proximity/manifold/manifold_features.hpp"

namespace tangere::internal {
namespace {

using Kind = SupportTerm::Kind;

/// Below this, n is along a disc's axis and its rim has no direction.
constexpr double kAxial = 1e-12;

double disc_radius(const SupportTerm& term, bool second) { return term.size[second ? 3 : 2]; }

/// E² n / |E n| and its Hessian (E² - s sᵀ) / |E n|, for the semi-axes E.
struct EllipsoidPoint {
  Vector3 s;
  Matrix3 hessian;
};
EllipsoidPoint ellipsoid_point(const SupportTerm& term, const Vector3& n) {
  const Eigen::Array3d squares = Eigen::Array3d(term.size[0], term.size[1], term.size[2]).square();
  const Vector3 t = term.R().transpose() * n;
  const Vector3 Et = (squares * t.array()).matrix();
  const double norm = std::sqrt(t.dot(Et));
  const Vector3 s = Et / norm;
  Matrix3 H = -s * s.transpose();
  H.diagonal() += squares.matrix();
  return {term.R() * s, term.R() * (H / norm) * term.R().transpose()};
}

}  // namespace

Vector3 corner_point(const SupportTerms& terms, const Corner& corner, const Vector3& n) {
  Vector3 s = corner.fixed + terms.radius * n;
  for (int k = 0; k < terms.num_terms; ++k) {
    const SupportTerm& term = terms.terms()[k];
    if (term.kind == Kind::ellipsoid) s += ellipsoid_point(term, n).s;
    if (term.kind != Kind::discs || k >= 32 || (corner.rims >> k & 1U) == 0) continue;
    const Vector3 axis = term.R().col(0);
    const Vector3 across = n - axis.dot(n) * axis;
    const double norm = across.norm();
    if (norm > kAxial) s += disc_radius(term, (corner.second_disc >> k & 1U) != 0) / norm * across;
  }
  return s;
}

Matrix3 corner_hessian(const SupportTerms& terms, const Corner& corner, const Vector3& n) {
  Matrix3 H = terms.radius * (Matrix3::Identity() - n * n.transpose());
  for (int k = 0; k < terms.num_terms; ++k) {
    const SupportTerm& term = terms.terms()[k];
    if (term.kind == Kind::ellipsoid) H += ellipsoid_point(term, n).hessian;
    if (term.kind != Kind::discs || k >= 32 || (corner.rims >> k & 1U) == 0) continue;
    const Vector3 axis = term.R().col(0);
    const Vector3 across = n - axis.dot(n) * axis;
    const double norm = across.norm();
    if (norm <= kAxial) continue;
    const Vector3 u = across / norm;
    const double radius = disc_radius(term, (corner.second_disc >> k & 1U) != 0);
    H += radius / norm * (Matrix3::Identity() - axis * axis.transpose() - u * u.transpose());
  }
  return H;
}

double support_value(const SupportTerms& terms, const Vector3& n) {
  if (terms.half_space) return terms.radius;
  double h = terms.center.dot(n) + terms.radius;
  for (int k = 0; k < terms.num_terms; ++k) {
    const SupportTerm& term = terms.terms()[k];
    const Vector3 t = term.R().transpose() * n;
    const double across = std::hypot(t[1], t[2]);
    switch (term.kind) {
      case Kind::segment:
        h += term.size[0] * std::abs(t[0]);
        break;
      case Kind::box:
        h += term.size[0] * std::abs(t[0]) + term.size[1] * std::abs(t[1]) + term.size[2] * std::abs(t[2]);
        break;
      case Kind::vertices: {
        const double* x = term.vertices;
        const double* y = x + term.padded_vertices;
        const double* z = y + term.padded_vertices;
        double best = -std::numeric_limits<double>::infinity();
        for (int i = 0; i < term.num_vertices; ++i) best = std::max(best, x[i] * t[0] + y[i] * t[1] + z[i] * t[2]);
        h += best;
        break;
      }
      case Kind::discs:
        h += std::max(term.size[0] * t[0] + term.size[2] * across, term.size[1] * t[0] + term.size[3] * across);
        break;
      case Kind::ellipsoid:
        h += Vector3(term.size[0] * t[0], term.size[1] * t[1], term.size[2] * t[2]).norm();
        break;
    }
  }
  return h;
}

}  // namespace tangere::internal
