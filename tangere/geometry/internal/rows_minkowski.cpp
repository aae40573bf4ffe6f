/// Conic rows of a Minkowski sum of parts S_i posed at (R_i, c_i):
///
///   p = Σ q_i,   q_i ∈ α (c_i + R_i S_i),   that is   p_i = R_iᵀ (q_i - α c_i) ∈ α S_i
///
/// Auxiliaries: q_1 … q_{k-1} (q_k = p - Σ q_i), then the parts' own in turn. A part that is itself a sum brings its
/// rows like any other. The sum is scaled about the origin of its own frame, which need not be c = Σ c_i: that it is
/// strictly inside is decided by where the ray from c through the origin leaves the sum, and the same ray gives the
/// strictly feasible start y = α y_0 + D p: y_0 an interior decomposition of the origin, D p shares p among the parts
/// by their inner radii.

#include <algorithm>
#include <string>

#include <Eigen/LU>

#include "tangere/geometry/internal/rows.hpp"
#include "tangere/geometry/support.hpp"
#include "tangere/math/check.hpp"
#include "tangere/math/entry_product.hpp"

namespace tangere::internal {
namespace {

constexpr int kAlpha = RowBuilder::kAlpha;
constexpr int kAux = RowBuilder::kAux;

/// How far the exit point must lie beyond the origin, relative to its distance from c.
constexpr double kMargin = 1e-9;

/// Layout of a sum's lifted point z = [p | y].
struct Layout {
  const std::vector<ShapePart>& parts;
  std::vector<int> first_aux;
  int num_aux;

  explicit Layout(const MinkowskiSum& sum) : parts(sum.parts), num_aux(3 * (static_cast<int>(sum.parts.size()) - 1)) {
    for (const ShapePart& part : parts) {
      first_aux.push_back(num_aux);
      num_aux += part.shape.set().rows.num_aux();
    }
  }

  [[nodiscard]] std::size_t size() const { return parts.size(); }

  /// The lifted point whose pieces q_i and auxiliaries of part i are `piece(i)` = [q_i | y_i].
  template <class Piece>
  [[nodiscard]] VectorX lifted(const Piece& piece) const {
    VectorX z = VectorX::Zero(3 + num_aux);
    for (std::size_t i = 0; i < size(); ++i) {
      const VectorX q_y = piece(i);
      z.head<3>() += q_y.head<3>();
      if (i + 1 < size()) z.segment<3>(3 + 3 * static_cast<Eigen::Index>(i)) = q_y.head<3>();
      z.segment(3 + first_aux[i], q_y.size() - 3) = q_y.tail(q_y.size() - 3);
    }
    return z;
  }
};

VectorX concatenate(const Vector3& p, const VectorX& y) {
  VectorX z(3 + y.size());
  z << p, y;
  return z;
}

/// The support point of a shape with the auxiliaries that show it to be in the set.
VectorX lifted_support(const Shape& shape, const Vector3& n) {
  const auto without_ball = [&](double radius) -> Vector3 { return support(shape, n) - radius * n.normalized(); };
  if (const auto* capsule = shape.get_if<Capsule>())
    return concatenate(support(shape, n), without_ball(capsule->radius).head<1>());
  if (const auto* polygon = shape.get_if<PaddedPolygon>())
    return concatenate(support(shape, n), without_ball(polygon->radius).head<2>());
  if (const auto* rounded = shape.get_if<RoundedPolytope>())
    return concatenate(support(shape, n), without_ball(rounded->radius));
  if (const auto* sum = shape.get_if<MinkowskiSum>()) {
    const Layout layout(*sum);
    return layout.lifted([&](std::size_t i) {
      VectorX q_y = lifted_support(sum->parts[i].shape, sum->parts[i].X.R.transpose() * n);
      q_y.head<3>() = sum->parts[i].X * Vector3(q_y.head<3>());
      return q_y;
    });
  }
  return support(shape, n);
}

/// The lifted point c + u shared among the parts by their inner radii, |u| ≤ Σ inner radii.
VectorX lifted_inner(const Layout& layout, const Vector3& u, double inner_sum) {
  return layout.lifted([&](std::size_t i) {
    const ShapePart& part = layout.parts[i];
    const ConvexSet& set = part.shape.set();
    const Vector3 share = set.inner_radius / inner_sum * u;
    Vector4 p_alpha;
    p_alpha << part.X.R.transpose() * share, 1.0;
    return concatenate(part.X.p + share, entry_product(set.aux_start, p_alpha));
  });
}

struct Exit {
  /// The boundary point is c + t (0 - c).
  double t;
  /// The lifted boundary point (a little inside).
  VectorX z;
};

/// Exit of the ray from c through the origin from the sum: the linear program  max t,  t d = Σ λ_j v_j,  Σ λ_j = 1,
/// λ ≥ 0  over all points v_j of the sum (relative to c, d = -c), by the simplex method with support points as
/// entering columns. The basis is a portal: a triangle of points of the sum that the ray crosses.
Exit ray_exit(const Layout& layout, const Vector3& c, double inner_sum, const VectorX& z_center) {
  const Vector3 d = -c;

  // first portal: three points around the ray on the inscribed ball about c
  const Vector3 axis = d.normalized();
  const Vector3 e1 = axis.unitOrthogonal();
  const Vector3 e2 = axis.cross(e1);
  const Vector3 around[3] = {e1, -0.5 * e1 + 0.8 * e2, -0.5 * e1 - 0.8 * e2};
  MatrixX portal(z_center.size(), 3);
  for (int j = 0; j < 3; ++j)
    portal.col(j) = lifted_inner(layout, inner_sum * (axis + around[j]).normalized(), inner_sum) - z_center;

  Exit exit{0.0, z_center};
  for (int iteration = 0; iteration < 1000; ++iteration) {
    // crossing point and normal of the portal's plane n · v = 1
    const Matrix3 V_inverse = Matrix3(portal.topRows<3>()).inverse();
    const Vector3 g = V_inverse * d;
    const Vector3 n = V_inverse.transpose() * Vector3::Ones();
    const double t = 1.0 / g.sum();
    exit = {t, z_center + entry_product(portal, t * g)};

    // the farthest point in that direction bounds the exit from above
    const VectorX entering = layout.lifted([&](std::size_t i) {
      const ShapePart& part = layout.parts[i];
      VectorX q_y = lifted_support(part.shape, part.X.R.transpose() * n);
      q_y.head<3>() = part.X * Vector3(q_y.head<3>());
      return q_y;
    }) - z_center;
    const double bound = n.dot(entering.head<3>());
    if (bound * t <= 1.0 + kMargin || bound <= 1.0 + 1e-12 || (t > 1.0 + kMargin && bound < 1.0 + 1e-3)) break;

    // ratio test: the corner whose weight reaches zero first leaves
    const Vector3 w = V_inverse * entering.head<3>();
    const Vector3 change = (w.sum() - 1.0) / g.sum() * g - w;
    int leaving = -1;
    double smallest = 0.0;
    for (int j = 0; j < 3; ++j) {
      if (!(change[j] < 0.0)) continue;
      const double ratio = std::max(0.0, t * g[j]) / -change[j];
      if (leaving >= 0 && ratio >= smallest) continue;
      leaving = j;
      smallest = ratio;
    }
    if (leaving < 0) break;
    portal.col(leaving) = entering;
  }
  return exit;
}

void check_parts(const MinkowskiSum& sum) {
  if (sum.parts.empty()) throw InputError("minkowski_sum.parts", "must not be empty");
  for (std::size_t i = 0; i < sum.parts.size(); ++i) {
    const std::string field = "minkowski_sum.parts[" + std::to_string(i) + "]";
    const Shape& shape = sum.parts[i].shape;
    if (shape.is_half_space() || !shape.is_convex())
      throw InputError(field, "a " + std::string(shape.type_name()) + " cannot be part of a Minkowski sum");
    require_pose(field, sum.parts[i].X);
  }
}

}  // namespace

ConvexSet make_set(const MinkowskiSum& sum) {
  check_parts(sum);
  const Layout layout(sum);
  if (layout.num_aux > kMaxAux)
    throw InputError("minkowski_sum.parts",
                     "needs " + std::to_string(layout.num_aux) + " auxiliary variables (3 for each part after the " +
                         "first, and the parts' own), at most " + std::to_string(kMaxAux) + " are supported");
  const int count = static_cast<int>(sum.parts.size());

  int num_orthant = 0;
  int num_cones = 0;
  Vector3 c = Vector3::Zero();
  double inner_sum = 0.0;
  double outer_sum = 0.0;
  for (const ShapePart& part : sum.parts) {
    const ConvexSet& set = part.shape.set();
    num_orthant += set.rows.num_orthant();
    num_cones += set.rows.num_cones();
    c += part.X.p;
    inner_sum += set.inner_radius;
    outer_sum += set.outer_radius;
  }

  RowBuilder rows(layout.num_aux, num_orthant, num_cones);
  int orthant = 0;
  int cone = 0;
  int parameter = 0;
  for (int i = 0; i < count; ++i) {
    const ShapePart& part = sum.parts[i];
    const ConvexSet& set = part.shape.set();
    const MatrixX& S = set.rows.matrix();
    const int first_aux = layout.first_aux[i];

    // p_i = T [p | alpha | y]
    MatrixX T = MatrixX::Zero(3, kAux + layout.num_aux);
    if (i + 1 < count) {
      T.middleCols<3>(kAux + 3 * i) = part.X.R.transpose();
    } else {
      T.leftCols<3>() = part.X.R.transpose();
      for (int j = 0; j + 1 < count; ++j) T.middleCols<3>(kAux + 3 * j) = -part.X.R.transpose();
    }
    T.col(kAlpha) = -part.X.R.transpose() * part.X.p;

    // the part's rows behind those of the parts before it
    const int m = set.rows.num_orthant();
    const auto row_of = [&](int row) { return row < m ? orthant + row : rows.cone(cone) + row - m; };
    for (int row = 0; row < S.rows(); ++row) {
      for (int column = 0; column < T.cols(); ++column)
        rows(row_of(row), column) = S.row(row).head<3>().dot(T.col(column));
      rows(row_of(row), kAlpha) += S(row, kAlpha);
      for (int k = 0; k < set.rows.num_aux(); ++k) rows(row_of(row), kAux + first_aux + k) = S(row, kAux + k);
    }
    for (const RowDerivative& entry : set.derivatives) {
      if (entry.column < 3) {
        for (int column = 0; column < T.cols(); ++column)
          rows.derivative(parameter + entry.parameter, row_of(entry.row), column,
                          entry.value * T(entry.column, column));
      } else {
        const int column = entry.column == kAlpha ? kAlpha : entry.column + first_aux;
        rows.derivative(parameter + entry.parameter, row_of(entry.row), column, entry.value);
      }
    }
    orthant += m;
    cone += set.rows.num_cones();
    parameter += set.num_parameters;
  }
  ConvexSet set = rows.build(parameter);

  // an interior decomposition of the origin: on the way from c to the exit point
  const VectorX z_center = lifted_inner(layout, Vector3::Zero(), inner_sum);
  VectorX z_origin = z_center;
  double margin = 1.0;
  if (c.norm() > 0.0) {
    const Exit exit = ray_exit(layout, c, inner_sum, z_center);
    margin = 1.0 - 1.0 / exit.t;
    if (!(margin > 0.5 * kMargin))
      throw InputError("minkowski_sum.parts",
                       "the origin must be strictly inside the sum, but the parts' origins add up to " + to_text(c) +
                           " (move the parts or use recentred)");
    z_origin += (exit.z - z_center) / exit.t;
  }

  set.inner_radius = margin * inner_sum;
  set.outer_radius = c.norm() + outer_sum;
  set.aux_start.col(kAlpha) = z_origin.tail(layout.num_aux);
  for (int k = 0; k < 3; ++k)
    set.aux_start.col(k) = (lifted_inner(layout, Vector3::Unit(k), inner_sum) - z_center).tail(layout.num_aux);
  return set;
}

}  // namespace tangere::internal
