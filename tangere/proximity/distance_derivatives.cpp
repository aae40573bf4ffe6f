/// Derivatives of the signed distance.
///
/// The value needs no solve: at the answer its change is that of the gap between the two witness points along n,
///
///   d(distance) = n·(dp_B - dp_A)   with each point fixed to its body.
///
/// The witness points move with the bodies, with the normal over the curved pieces (by the Hessians of the support
/// functions), and along the features as their weights λ change. With x_i = (r_B + b_i) - (r_A + a_i) the gap of piece
/// i, E the axes across n, δn = E u, and rho = n·x the distance of the cores,
///
///   Eᵀ d(Σ λ_i x_i) - rho u = 0,      d(n·x_i) = d(n·x_1)
///   da = H_A (δn - ω_A × n) + ω_A × a,      db = -H_B (δn - ω_B × n) + ω_B × b
///
/// two and k - 1 equations for u and the dλ.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Dense>

#include "tangere/math/error.hpp"
#include "tangere/proximity/distance/internal/distance_workspace.hpp"

namespace tangere {
namespace {

/// Features within this angle, or this part of the size, count as parallel.
constexpr double kParallel = 1e-7;
constexpr double kLeastPivot = 1e-9;

Vector3 to_vector(Vec4 v) { return {v[0], v[1], v[2]}; }

Matrix3 skew(const Vector3& v) {
  Matrix3 S;
  S << 0.0, -v[2], v[1], v[2], 0.0, -v[0], -v[1], v[0], 0.0;
  return S;
}

DistanceWorkspace::Data& queried(DistanceWorkspace& workspace) {
  DistanceWorkspace::Data& data = workspace.data();
  if (!data.has_query) throw InputError("workspace", "holds no query yet: call distance first");
  return data;
}

/// Rows over the tangents of the parts' poses as rows over those of the whole shapes' poses.
template <class Rows>
void to_whole(const DistanceWorkspace::Data& data, Rows&& rows) {
  if (!data.has_bundle) return;
  const auto body = [&](int at, const Pose& X_WS, const Pose& X_SP) {
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const Vector3 linear = rows.row(i).template segment<3>(at).transpose();
      const Vector3 angular = rows.row(i).template segment<3>(at + 3).transpose();
      rows.row(i).template segment<3>(at + 3) =
          (X_SP.p.cross(X_WS.R.transpose() * linear) + X_SP.R * angular).transpose();
    }
  };
  body(0, data.X_WA, data.found.part_A->X_SP);
  body(6, data.X_WB, data.found.part_B->X_SP);
}

Vector12 part_gradient(const NearestPair& pair) {
  Vector12 g;
  g.segment<3>(0) = -pair.n;
  g.segment<3>(3) = pair.X_WA.R.transpose() * pair.n.cross(pair.s_A);
  g.segment<3>(6) = pair.n;
  g.segment<3>(9) = pair.X_WB.R.transpose() * pair.s_B.cross(pair.n);
  return g;
}

/// One smooth piece of a body's support function at n: its point from the centre and its Hessian, in world axes.
struct Piece {
  Vector3 point;
  Matrix3 hessian;
};

Piece piece_of(const RayBody& body, int first, int last, const Vector3& n, const int* pieces) {
  Piece out{Vector3::Zero(), Matrix3::Zero()};
  for (int t = first; t < last; ++t) {
    const PlacedTerm& placed = body.terms[t];
    const SupportTerm& term = *placed.term;
    Matrix3 C;
    for (int i = 0; i < 3; ++i) C.col(i) = to_vector(placed.columns.c[i]);
    const Vector3 m = C.transpose() * n;
    const int k = pieces[t];
    switch (placed.kind) {
      case SupportTerm::Kind::segment:
        out.point += k != 0 ? C.col(0) : Vector3(-C.col(0));
        break;
      case SupportTerm::Kind::box:
        for (int i = 0; i < 3; ++i) out.point += (k >> i & 1) != 0 ? C.col(i) : Vector3(-C.col(i));
        break;
      case SupportTerm::Kind::vertices:
        out.point += C * Vector3(term.vertices[k], term.vertices[k + term.padded_vertices],
                                 term.vertices[k + 2 * term.padded_vertices]);
        break;
      case SupportTerm::Kind::discs: {
        const double across = std::hypot(m[1], m[2]);
        const double radius = term.size[2 + k];
        out.point += C.col(0) * term.size[k];
        if (across > 0.0 && radius > 0.0) {
          out.point += (C.col(1) * m[1] + C.col(2) * m[2]) * (radius / across);
          const Vector3 along = (C.col(2) * m[1] - C.col(1) * m[2]) / across;
          out.hessian += along * along.transpose() * (radius / across);
        }
        break;
      }
      default: {
        const double length = m.norm();
        const Vector3 p = C * m / length;
        out.point += p;
        out.hessian += (C * C.transpose() - p * p.transpose()) / length;
        break;
      }
    }
  }
  return out;
}

/// The directions in which a body's face along n extends: at most two, orthonormal.
struct FaceSpan {
  Vector3 axis[2];
  int dimension = 0;

  void add(Vector3 v, double size) {
    for (int i = 0; i < dimension; ++i) v -= axis[i].dot(v) * axis[i];
    const double length = v.norm();
    if (dimension < 2 && length > kParallel * size) axis[dimension++] = v / length;
  }
};

FaceSpan face_span(const RayBody& body, int first, int last, const Vector3& n, double size) {
  FaceSpan span;
  for (int t = first; t < last; ++t) {
    const PlacedTerm& placed = body.terms[t];
    const SupportTerm& term = *placed.term;
    Matrix3 C;
    for (int i = 0; i < 3; ++i) C.col(i) = to_vector(placed.columns.c[i]);
    const Vector3 m = C.transpose() * n;
    switch (placed.kind) {
      case SupportTerm::Kind::segment:
        if (std::abs(m[0]) <= kParallel * C.col(0).norm()) span.add(C.col(0), size);
        break;
      case SupportTerm::Kind::box:
        for (int i = 0; i < 3; ++i) {
          if (std::abs(m[i]) <= kParallel * C.col(i).norm()) span.add(C.col(i), size);
        }
        break;
      case SupportTerm::Kind::vertices: {
        const auto vertex = [&](int i) {
          return Vector3(term.vertices[i], term.vertices[i + term.padded_vertices],
                         term.vertices[i + 2 * term.padded_vertices]);
        };
        int best = 0;
        for (int i = 1; i < term.num_vertices; ++i) {
          if (m.dot(vertex(i)) > m.dot(vertex(best))) best = i;
        }
        for (int i = 0; i < term.num_vertices; ++i) {
          const Vector3 edge = vertex(i) - vertex(best);
          if (i != best && -m.dot(edge) <= kParallel * edge.norm()) span.add(C * edge, size);
        }
        break;
      }
      case SupportTerm::Kind::discs: {
        const double across = std::hypot(m[1], m[2]);
        const double first_disc = term.size[0] * m[0] + term.size[2] * across;
        const double second_disc = term.size[1] * m[0] + term.size[3] * across;
        const double length = std::hypot(term.size[1] - term.size[0], term.size[3] - term.size[2]);
        if (std::abs(first_disc - second_disc) <= kParallel * length) {
          // the side line
          const Vector3 out = across > 0.0 ? Vector3((C.col(1) * m[1] + C.col(2) * m[2]) / across) : Vector3(C.col(1));
          span.add((term.size[1] - term.size[0]) * C.col(0) + (term.size[3] - term.size[2]) * out, size);
        }
        if (across <= kParallel && term.size[m[0] > 0.0 ? 3 : 2] > 0.0) {
          span.add(C.col(1), size);
          span.add(C.col(2), size);
        }
        break;
      }
      default:
        break;
    }
  }
  return span;
}

/// The two faces that touch along n meet in a single point.
bool is_unique(const RayBody& body, const Vector3& n, double size) {
  const FaceSpan a = face_span(body, 0, body.num_terms_A, n, size);
  const FaceSpan b = face_span(body, body.num_terms_A, body.num_terms, n, size);
  if (a.dimension + b.dimension > 2) return false;
  if (a.dimension == 1 && b.dimension == 1) return a.axis[0].cross(b.axis[0]).norm() > kParallel;
  return true;
}

DistanceJacobian undefined() {
  DistanceJacobian J;
  J.p_A.setConstant(std::numeric_limits<double>::quiet_NaN());
  J.p_B = J.normal = J.p_A;
  J.exists = false;
  return J;
}

using Matrix3x12d = Eigen::Matrix<double, 3, 12>;

/// The columns of r_A, r_B, ω_A, ω_B over the twelve tangents.
struct Motions {
  Matrix3x12d r_A = Matrix3x12d::Zero();
  Matrix3x12d w_A = Matrix3x12d::Zero();
  Matrix3x12d r_B = Matrix3x12d::Zero();
  Matrix3x12d w_B = Matrix3x12d::Zero();
  explicit Motions(const NearestPair& pair) {
    r_A.block<3, 3>(0, 0).setIdentity();
    w_A.block<3, 3>(0, 3) = pair.X_WA.R;
    r_B.block<3, 3>(0, 6).setIdentity();
    w_B.block<3, 3>(0, 9) = pair.X_WB.R;
  }
};

/// n fixed to one body (a plane, or the flat side of a disc): the other's point moves over its own surface, and the
/// foot follows.
DistanceJacobian with_fixed_normal(const NearestPair& pair, bool normal_on_A, const Piece& other) {
  const Motions motion(pair);
  const Matrix3 cross_n = skew(pair.n);
  const Matrix3x12d& w_n = normal_on_A ? motion.w_A : motion.w_B;
  const Matrix3x12d& w_o = normal_on_A ? motion.w_B : motion.w_A;
  const Matrix3x12d dn = -cross_n * w_n;
  // the other's outward direction is ∓n
  const double sign = normal_on_A ? -1.0 : 1.0;
  const Matrix3x12d ds = sign * other.hessian * (dn + cross_n * w_o) - skew(normal_on_A ? pair.s_B : pair.s_A) * w_o;
  const Matrix3x12d dp = (normal_on_A ? motion.r_B : motion.r_A) + ds;
  const Vector12 g = part_gradient(pair);
  const Matrix3x12d along = pair.n * g.transpose() + pair.distance * dn;
  DistanceJacobian J;
  J.p_A = normal_on_A ? Matrix3x12d(dp - along) : dp;
  J.p_B = normal_on_A ? dp : Matrix3x12d(dp + along);
  J.normal = dn;
  J.exists = true;
  return J;
}

/// The whole piece of a body with its ball: Hessian of h at the outward direction.
Piece with_ball(Piece piece, const Vector3& outward, double radius) {
  piece.point += radius * outward;
  piece.hessian += radius * (Matrix3::Identity() - outward * outward.transpose());
  return piece;
}

/// A ball about as large as `size`, which is from 1e-30 to 1e30 as all sizes are.
const Shape& ball_of(double size) {
  constexpr int kLargest = 30;
  static const std::vector<Shape> balls = [] {
    std::vector<Shape> all;
    for (int k = -kLargest; k <= kLargest; ++k) all.emplace_back(Sphere{std::pow(10.0, k)});
    return all;
  }();
  const double k = std::clamp(std::round(std::log10(size)), -1.0 * kLargest, 1.0 * kLargest);
  return balls[static_cast<int>(k) + kLargest];
}

/// -∂h/∂θ at the unit outward normal n, with s the point of the set that faces n, for every parameter of a part at
/// X_WP. A ball that touches it there has alpha = 1, and from alpha (h + radius) = n·(centre of the ball),
/// -∂h/∂θ = (h + radius) ∂alpha/∂θ. The ball singles s out where a whole edge or face looks along n. `pair` is memory.
void support_gradient(const ConvexPart& part, const Pose& X_WP, const Vector3& n, const Vector3& s, SolvedPair& pair,
                      VectorX& out) {
  const Shape& ball = ball_of(part.set->outer_radius);
  const double radius = ball.set().outer_radius;
  pair.part_A = part;
  pair.part_B = ball.parts().front();
  pair.X_WA = Pose(X_WP.R, Vector3::Zero());
  pair.X_WB = Pose(Matrix3::Identity(), s + radius * n);
  pair.program.reserve(*pair.part_A.set, *pair.part_B.set);
  solve_pair({.tolerance = 1e-11}, pair);
  envelope_gradient(pair, 0, part, out);
  out *= n.dot(s) + radius;
}

/// With a half-space, whose normal is the one of the distance. Moved along n until they touch, alpha - 1 and the
/// distance vanish together, so that their gradients are parallel: ∂distance/∂θ = ∂alpha/∂θ / (n·∂alpha/∂r_B).
void plane_gradient(const NearestPair& pair, const ConvexPart& part_A, const ConvexPart& part_B, SolvedPair& touching,
                    VectorX& d_A, VectorX& d_B) {
  touching.part_A = part_A;
  touching.part_B = part_B;
  touching.X_WA = Pose(pair.X_WA.R, Vector3::Zero());
  touching.X_WB = Pose(pair.X_WB.R, pair.X_WB.p - pair.X_WA.p - pair.distance * pair.n);
  touching.program.reserve(*part_A.set, *part_B.set);
  solve_pair({.tolerance = 1e-11}, touching);
  envelope_gradient(touching, 0, part_A, d_A);
  envelope_gradient(touching, 1, part_B, d_B);
  const double reach = part_A.set->scaled ? pair.n.dot(pair.s_A) : -pair.n.dot(pair.s_B);
  d_A *= reach;
  d_B *= reach;
}

}  // namespace

SolvedPair& DistanceWorkspace::Data::conic() {
  if (conic_pair == nullptr) conic_pair = std::make_unique<SolvedPair>();
  return *conic_pair;
}

Vector12 distance_gradient(DistanceWorkspace& workspace) {
  const DistanceWorkspace::Data& data = queried(workspace);
  Vector12 g = part_gradient(data.found);
  to_whole(data, g.transpose());
  return g;
}

DistanceJacobian distance_jacobian(DistanceWorkspace& workspace) {
  DistanceWorkspace::Data& data = queried(workspace);
  const NearestPair& pair = data.found;
  const SupportTerms& A = *pair.terms_A;
  const SupportTerms& B = *pair.terms_B;
  const Vector3& n = pair.n;

  // the body is still as the query placed it
  const RayBody& body = data.search.body;
  const auto whole = [&](DistanceJacobian J) {
    to_whole(data, J.p_A);
    to_whole(data, J.p_B);
    to_whole(data, J.normal);
    return J;
  };
  const auto facing = [&](const Vector3& direction) {
    data.pieces.resize(static_cast<std::size_t>(body.num_terms) + 1);
    (void)body.core_support<true>({direction[0], direction[1], direction[2]}, data.pieces.data());
    return data.pieces.data();
  };
  if (A.half_space || B.half_space) {
    // placed: the other one alone, not reflected
    const bool plane_is_A = A.half_space;
    const SupportTerms& other = plane_is_A ? B : A;
    const Vector3 outward = plane_is_A ? Vector3(-n) : n;
    if (face_span(body, 0, body.num_terms, outward, other.outer_radius).dimension > 0) return undefined();
    const Piece piece = piece_of(body, 0, body.num_terms, outward, facing(outward));
    return whole(with_fixed_normal(pair, plane_is_A, with_ball(piece, outward, other.radius)));
  }
  if (!is_unique(body, n, data.search.size)) return undefined();
  const DistanceHit& hit = pair.hit;
  if (hit.num_pieces == 0) {
    if (hit.flat_term < 0) return undefined();
    // the flat side of a disc; the columns of B's terms are those of -B, whose Hessian at n is B's at -n
    const bool on_A = hit.flat_term < body.num_terms_A;
    const Piece other = on_A ? piece_of(body, body.num_terms_A, body.num_terms, n, facing(n))
                             : piece_of(body, 0, body.num_terms_A, n, facing(n));
    return whole(with_fixed_normal(pair, on_A, on_A ? with_ball(other, -n, B.radius) : with_ball(other, n, A.radius)));
  }

  const int k = hit.num_pieces;
  const Motions motion(pair);
  const Matrix3 cross_n = skew(n);
  Vector3 a[kMostPieces];
  Vector3 b[kMostPieces];
  Vector3 x[kMostPieces];
  Matrix3 H_A = Matrix3::Zero();
  Matrix3 H_B = Matrix3::Zero();
  Vector3 mean_a = Vector3::Zero();
  Vector3 mean_b = Vector3::Zero();
  const Vector3 center_A = pair.X_WA.R * A.center;
  const Vector3 center_B = pair.X_WB.R * B.center;
  for (int i = 0; i < k; ++i) {
    const int* pieces = body.num_terms > 0 ? data.search.pieces(hit.slots[i]) : nullptr;
    const Piece of_A = piece_of(body, 0, body.num_terms_A, n, pieces);
    const Piece of_B = piece_of(body, body.num_terms_A, body.num_terms, n, pieces);
    a[i] = center_A + of_A.point;
    b[i] = center_B - of_B.point;
    x[i] = pair.X_WB.p - pair.X_WA.p + b[i] - a[i];
    H_A += hit.weights[i] * of_A.hessian;
    H_B += hit.weights[i] * of_B.hessian;
    mean_a += hit.weights[i] * a[i];
    mean_b += hit.weights[i] * b[i];
  }
  // axes across n
  Eigen::Matrix<double, 3, 2> E;
  E.col(0) = n.unitOrthogonal();
  E.col(1) = n.cross(E.col(0));
  const double rho = hit.distance;

  // unknowns: u (2), dλ_2 … dλ_k
  Eigen::Matrix<double, 4, 4> M = Eigen::Matrix<double, 4, 4>::Identity();
  Eigen::Matrix<double, 4, 12> rhs = Eigen::Matrix<double, 4, 12>::Zero();
  M.topLeftCorner<2, 2>() = -(E.transpose() * (H_A + H_B) * E) - rho * Eigen::Matrix2d::Identity();
  // what the bodies' motion does to x at fixed n and λ
  const Matrix3x12d moved = motion.r_B - motion.r_A - H_B * cross_n * motion.w_B - skew(mean_b) * motion.w_B -
                            H_A * cross_n * motion.w_A + skew(mean_a) * motion.w_A;
  rhs.topRows<2>() = -E.transpose() * moved;
  for (int i = 1; i < k; ++i) {
    M.block<2, 1>(0, 1 + i) = E.transpose() * (x[i] - x[0]);
    M.block<1, 2>(1 + i, 0) = (E.transpose() * (x[i] - x[0])).transpose();
    M(1 + i, 1 + i) = 0.0;
    // d(n·x_i) - d(n·x_0) at fixed n
    rhs.row(1 + i) = -(n.transpose() * (-skew(b[i] - b[0]) * motion.w_B + skew(a[i] - a[0]) * motion.w_A));
  }
  const double unit = data.search.size;
  M.topLeftCorner<2, 2>() /= unit;
  rhs.topRows<2>() /= unit;
  for (int i = 1; i < k; ++i) {
    M.block<2, 1>(0, 1 + i) /= unit;
    M.block<1, 2>(1 + i, 0) /= unit;
    rhs.row(1 + i) /= unit;
  }
  const Eigen::FullPivLU<Eigen::Matrix<double, 4, 4>> lu(M);
  if (!(lu.maxPivot() > 0.0) || std::abs(lu.matrixLU().diagonal().cwiseAbs().minCoeff()) < kLeastPivot * lu.maxPivot())
    return undefined();
  const Eigen::Matrix<double, 4, 12> solution = lu.solve(rhs);

  const Matrix3x12d dn = E * solution.topRows<2>();
  Matrix3x12d da = H_A * (dn + cross_n * motion.w_A) - skew(mean_a) * motion.w_A;
  Matrix3x12d db = -H_B * (dn + cross_n * motion.w_B) - skew(mean_b) * motion.w_B;
  for (int i = 1; i < k; ++i) {
    da += (a[i] - a[0]) * solution.row(1 + i);
    db += (b[i] - b[0]) * solution.row(1 + i);
  }
  DistanceJacobian J;
  J.p_A = motion.r_A + da + A.radius * dn;
  J.p_B = motion.r_B + db - B.radius * dn;
  J.normal = dn;
  J.exists = true;
  return whole(J);
}

void distance_parameter_gradient(DistanceWorkspace& workspace, VectorX& d_A, VectorX& d_B) {
  DistanceWorkspace::Data& data = queried(workspace);
  const NearestPair& pair = data.found;
  d_A.setZero(data.has_bundle ? data.num_parameters_A : pair.terms_A->set->num_parameters);
  d_B.setZero(data.has_bundle ? data.num_parameters_B : pair.terms_B->set->num_parameters);
  const auto part_of = [](const SupportTerms& terms, const ConvexPart* part) {
    // without an owner: the shape still exists (see DistanceWorkspace)
    return part != nullptr ? *part : ConvexPart{{std::shared_ptr<const ConvexSet>(), terms.set}, Pose(), 0};
  };
  const ConvexPart part_A = part_of(*pair.terms_A, pair.part_A);
  const ConvexPart part_B = part_of(*pair.terms_B, pair.part_B);
  if (pair.terms_A->half_space || pair.terms_B->half_space) {
    plane_gradient(pair, part_A, part_B, data.conic(), d_A, d_B);
    return;
  }
  // distance = n·(r_B - r_A) - h_A(n) - h_B(-n), and n is stationary
  support_gradient(part_A, pair.X_WA, pair.n, pair.s_A, data.conic(), d_A);
  support_gradient(part_B, pair.X_WB, -pair.n, pair.s_B, data.conic(), d_B);
}

}  // namespace tangere
