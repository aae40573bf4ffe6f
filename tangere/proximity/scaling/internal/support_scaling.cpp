#include "tangere/proximity/scaling/internal/support_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere {
namespace {

/// Centres nearer to each other than this (metres) count as one: of less, the square has lost its digits.
constexpr double kLeastLength = 1e-140;

/// The matrix whose rows are an orthonormal frame with d's direction last (Duff et al. 2017, without branches).
Columns frame_along(Vec4 d, double length) {
  // both divisions at once
  const double inverse = 1.0 / length;
  const double part = -1.0 / (std::copysign(length, d[2]) + d[2]);
  const double x = d[0] * inverse;
  const double y = d[1] * inverse;
  const double z = d[2] * inverse;
  const double sign = std::copysign(1.0, z);
  const double ax = d[0] * part;
  const double ay = d[1] * part;
  const double b = x * ay;
  return {{Vec4{1.0 + sign * x * ax, b, x, 0.0}, Vec4{sign * b, sign + y * ay, y, 0.0}, Vec4{-sign * x, -y, z, 0.0}}};
}

double norm(Vec4 v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

Columns operator-(const Columns& M) { return {{-M.c[0], -M.c[1], -M.c[2]}}; }

Vector3 to_vector(Vec4 v) { return {v[0], v[1], v[2]}; }

const SupportTerm* find_ellipsoid(const SupportTerms& S) {
  for (int k = 0; k < S.num_terms; ++k) {
    if (S.terms()[k].kind == SupportTerm::Kind::ellipsoid) return S.terms() + k;
  }
  return nullptr;
}

/// Turns the hit into world axes: n = N n_ray, points = P p_ray.
void read(const RayHit& hit, double length, const Columns& N, const Columns& P, SupportScaling& out) {
  out.certified = hit.certified;
  out.supports = hit.supports;
  if (!hit.certified) return;
  const double inverse = 1.0 / hit.upper;
  out.alpha = length * inverse;
  out.gap = (hit.upper - hit.lower) * inverse;
  out.n = to_vector(product(N, hit.n.x * inverse, hit.n.y * inverse, hit.n.z * inverse));
  out.beyond = hit.beyond;
  if (hit.beyond) {
    out.gap = 0.0;
    out.s_A.setConstant(std::numeric_limits<double>::quiet_NaN());
    out.s_B = out.s_A;
    return;
  }
  // what is left between the two points is shared, so that forces and torques balance to rounding
  const Vec4 exit{0.0, 0.0, hit.upper, 0.0};
  const Vec4 a = hit.point.a - 0.5 * (hit.point.v - exit);
  const Vec4 b = a - exit;
  out.s_A = to_vector(product(P, a[0], a[1], a[2]));
  out.s_B = to_vector(product(P, b[0], b[1], b[2]));
}

/// The ball or ellipsoid that a set is: its axes times its semi-axes, in world axes. False if it is something else.
bool as_ellipsoid(const SupportTerms& S, const Pose& X, Columns& axes) {
  axes = load_columns(X.R);
  if (S.num_terms == 0) {
    for (Vec4& c : axes.c) c *= S.radius;
    return true;
  }
  if (S.num_terms != 1 || S.num_ellipsoids != 1 || S.radius != 0.0) return false;
  const SupportTerm& term = *S.terms();
  if (term.turned) axes = product(axes, term.R());
  for (int i = 0; i < 3; ++i) axes.c[i] *= term.size[i];
  return true;
}

/// Two ellipsoids x = L_A u and x = L_B u, |u| ≤ 1. With A the unit ball and B = C Cᵀ, the best normal is
/// n = (B + mu I)⁻¹ d where mu = h_B(n) / h_A(n): one equation (Perram and Wertheim 1985).
bool ellipsoid_pair(const Columns& L_A, const Columns& L_B, Vec4 d, double tolerance, SupportScaling& out) {
  // world to the unit ball: the columns of L_A are orthogonal
  Columns T = L_A;
  for (Vec4& c : T.c) c *= 1.0 / dot(c, c);
  T = transposed(T);
  const Vec4 e = product(T, d[0], d[1], d[2]);
  Columns C;
  for (int i = 0; i < 3; ++i) C.c[i] = product(T, L_B.c[i][0], L_B.c[i][1], L_B.c[i][2]);
  Columns B{};
  const Columns Ct = transposed(C);
  for (int i = 0; i < 3; ++i) B.c[i] = product(C, Ct.c[i][0], Ct.c[i][1], Ct.c[i][2]);
  const auto times_B = [&](Vec4 v) { return product(B, v[0], v[1], v[2]); };

  double mu = std::sqrt(dot(e, times_B(e)) / dot(e, e));
  double low = 0.0;
  double high = std::numeric_limits<double>::infinity();
  Vec4 n{};
  Vec4 Bn{};
  double nn = 0.0;
  double nBn = 0.0;
  for (int step = 0; step < 30; ++step) {
    // adjugate of B + mu I, which is symmetric
    const double a = B.c[0][0] + mu, b = B.c[1][0], c = B.c[2][0];
    const double g = B.c[1][1] + mu, f = B.c[2][1], h = B.c[2][2] + mu;
    const double xx = g * h - f * f, xy = c * f - b * h, xz = b * f - c * g;
    const double yy = a * h - c * c, yz = b * c - a * f, zz = a * g - b * b;
    const double inverse = 1.0 / (a * xx + b * xy + c * xz);
    const Columns adjugate{{Vec4{xx, xy, xz, 0.0}, Vec4{xy, yy, yz, 0.0}, Vec4{xz, yz, zz, 0.0}}};
    n = product(adjugate, e[0], e[1], e[2]) * inverse;
    const Vec4 q = product(adjugate, n[0], n[1], n[2]) * inverse;
    Bn = times_B(n);
    nn = dot(n, n);
    nBn = dot(n, Bn);
    const double ratio = std::sqrt(nBn / nn);
    const double error = ratio - mu;
    if (!(std::abs(error) > 1e-11 * mu)) break;
    (error > 0.0 ? low : high) = mu;
    const double slope = ratio * (dot(n, q) / nn - dot(Bn, q) / nBn) - 1.0;
    const double next = mu - error / slope;
    mu = next > low && next < high ? next : (high < 2.0 * ratio ? 0.5 * (low + high) : ratio);
  }
  const double h_A = std::sqrt(nn);
  const double h_B = std::sqrt(nBn);
  const double h = h_A + h_B;
  const double alpha = dot(n, e) / h;
  const Vec4 s_A = n * (1.0 / h_A);
  const Vec4 s_B = Bn * (-1.0 / h_B);
  // how far the point is from the ray bounds alpha from above: the unit ball is inside
  const Vec4 off = s_A - s_B - e * (1.0 / alpha);
  const double gap = std::sqrt(dot(off, off));
  if (!(gap <= tolerance)) return false;
  const Columns Tt = transposed(T);
  out.certified = true;
  out.supports = 1;
  out.alpha = alpha;
  out.gap = gap;
  out.n = to_vector(product(Tt, n[0], n[1], n[2]) * (1.0 / h));
  const Vec4 a = s_A - 0.5 * off;
  const Vec4 b = s_B + 0.5 * off;
  out.s_A = to_vector(product(L_A, a[0], a[1], a[2]));
  out.s_B = to_vector(product(L_A, b[0], b[1], b[2]));
  return true;
}

/// alpha h(-n) = how far the centre is outside the plane.
void half_space_scaling(const SupportTerms& A, const Pose& X_WA, const SupportTerms& B, const Pose& X_WB, RayBody& body,
                        SupportScaling& out) {
  const bool plane_is_B = B.half_space;
  const SupportTerms& plane = plane_is_B ? B : A;
  const SupportTerms& other = plane_is_B ? A : B;
  const Pose& X_plane = plane_is_B ? X_WB : X_WA;
  const Pose& X_other = plane_is_B ? X_WA : X_WB;
  const Vector3 outward = X_plane.R * plane.center;
  const double height = outward.dot(X_other.p - X_plane.p) - plane.radius;
  if (!(height > 0.0)) return;
  body.add(other, load_columns(X_other.R), true);
  body.radius_A = other.radius;
  const Direction down{-outward[0], -outward[1], -outward[2]};
  BodyPoint lowest = body.core_support(down);
  body.add_balls(down, lowest);
  const double reach = dot(lowest.v, down);
  const double alpha = height / reach;
  const Vector3 s = to_vector(lowest.v);
  const Vector3 from_plane = (X_other.p - X_plane.p) / alpha + s;
  out.certified = true;
  out.supports = 1;
  out.alpha = alpha;
  out.gap = 0.0;
  out.n = outward * ((plane_is_B ? -1.0 : 1.0) / reach);
  out.s_A = plane_is_B ? s : from_plane;
  out.s_B = plane_is_B ? from_plane : s;
}

}  // namespace

void support_scaling(const SupportTerms& A, const Pose& X_WA, const SupportTerms& B, const Pose& X_WB,
                     const ScalingQuestion& question, RayCast& cast, SupportScaling& out) {
  const double tolerance = question.tolerance;
  out.certified = false;
  out.beyond = false;
  out.supports = 0;
  const Vec4 d{X_WB.p[0] - X_WA.p[0], X_WB.p[1] - X_WA.p[1], X_WB.p[2] - X_WA.p[2], 0.0};
  RayBody& body = cast.body;
  body.clear();
  if (A.half_space || B.half_space) {
    half_space_scaling(A, X_WA, B, X_WB, body, out);
    return;
  }
  const double length = norm(d);
  if (!(length > kLeastLength)) return;
  const int num_curved = A.num_curved + B.num_curved;
  const int num_ellipsoids = A.num_ellipsoids + B.num_ellipsoids;

  if (num_curved == num_ellipsoids && num_curved > 0) {
    Columns L_A;
    Columns L_B;
    if (as_ellipsoid(A, X_WA, L_A) && as_ellipsoid(B, X_WB, L_B) && A.center.isZero(0.0) && B.center.isZero(0.0) &&
        ellipsoid_pair(L_A, L_B, d, tolerance, out)) {
      return;
    }
  }

  if (num_curved == 1 && num_ellipsoids == 1 && A.radius + B.radius == 0.0) {
    // alpha does not change under a linear map of everything: make the ellipsoid a ball
    const bool in_A = A.num_ellipsoids == 1;
    const SupportTerm* ellipsoid = find_ellipsoid(in_A ? A : B);
    Columns axes = load_columns(in_A ? X_WA.R : X_WB.R);
    if (ellipsoid->turned) axes = product(axes, ellipsoid->R());
    // world to unit ball: T = diag(1/size) axesᵀ
    const double* size = ellipsoid->size;
    const Vec4 inverse{1.0 / size[0], 1.0 / size[1], 1.0 / size[2], 0.0};
    Columns T = transposed(axes);
    for (Vec4& c : T.c) c *= inverse;
    const Vec4 mapped = product(T, d[0], d[1], d[2]);
    const double mapped_length = norm(mapped);
    const Columns Q = frame_along(mapped, mapped_length);
    Columns G;
    for (int i = 0; i < 3; ++i) G.c[i] = product(Q, T.c[i][0], T.c[i][1], T.c[i][2]);
    body.add(A, product(G, X_WA.R), true, ellipsoid);
    body.add(B, -product(G, X_WB.R), false, ellipsoid);
    (in_A ? body.radius_A : body.radius_B) = 1.0;
    cast.inner_radius = (A.inner_radius + B.inner_radius) / std::max(size[0], std::max(size[1], size[2]));
    cast.stop_below = mapped_length / question.at_most;
    const RayHit hit = cast.polytope(tolerance);
    // back: n = Gᵀ n, p = T⁻¹ Qᵀ p = axes diag(size) Qᵀ p
    for (int i = 0; i < 3; ++i) axes.c[i] *= size[i];
    const Columns Qt = transposed(Q);
    Columns P;
    for (int i = 0; i < 3; ++i) P.c[i] = product(axes, Qt.c[i][0], Qt.c[i][1], Qt.c[i][2]);
    read(hit, mapped_length, transposed(G), P, out);
    return;
  }

  const Columns Q = frame_along(d, length);
  body.add(A, product(Q, X_WA.R), true);
  body.add(B, -product(Q, X_WB.R), false);
  body.radius_A = A.radius;
  body.radius_B = B.radius;
  cast.inner_radius = A.inner_radius + B.inner_radius;
  cast.inner_share = A.inner_radius / cast.inner_radius;
  cast.stop_below = length / question.at_most;
  const RayHit hit = num_curved == 0 ? cast.polytope(tolerance) : cast.curved(tolerance);
  const Columns Qt = transposed(Q);
  read(hit, length, Qt, Qt, out);
}

}  // namespace tangere
