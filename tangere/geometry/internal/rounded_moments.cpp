/// Moments of a polyhedron padded by a ball of radius R, exactly: the core, a prism on each face, a circular wedge
/// along each edge, and a sector of a ball at each vertex (Steiner's decomposition).
///
///   face    x = f + τ n,       f in the face, τ in [0, R]
///   edge    x = e + ρ u(φ),    e on the edge, u turning by θ from the normal n₁ of one face to n₂ of the other
///   vertex  x = v + ρ u,       u in the spherical polygon Ω whose corners are the normals of the faces at v
///
/// Over Ω with corners n_j, sides of angle θ_j and inward side normals ν_j = n_j × n_{j+1} / |…|, the divergence
/// theorem on the cone over Ω (∮ n dA = 0 and ∮ x nᵀ dA = V 1) gives
///
///   ∫ u dΩ = ½ Σ θ_j ν_j,     ∫ u uᵀ dΩ = ⅓ |Ω| 1 + ⅓ Σ c_j ν_jᵀ,     c_j = ∫ u dφ along side j.

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include "tangere/geometry/internal/moments.hpp"

namespace tangere::internal {
namespace {

/// The arc from unit vector n₁ to n₂: angle θ, axis ν, and the tangent m = ν × n₁ at its start.
struct Arc {
  double angle;
  Vector3 nu;
  Vector3 m;
};

Arc arc(const Vector3& n1, const Vector3& n2) {
  const Vector3 cross = n1.cross(n2);
  const double sine = cross.norm();
  const Vector3 nu = sine > 0.0 ? Vector3(cross / sine) : n1.unitOrthogonal();
  return {std::atan2(sine, n1.dot(n2)), nu, nu.cross(n1)};
}

/// ∫ u dφ over an arc that starts at n₁.
Vector3 arc_integral(const Arc& a, const Vector3& n1) {
  const double s = std::sin(0.5 * a.angle);
  return std::sin(a.angle) * n1 + 2.0 * s * s * a.m;
}

Moments face_prism(const Hull& hull, std::size_t f, double R) {
  const std::vector<int>& face = hull.faces[f];
  const Vector3 n = hull.normals.row(static_cast<Eigen::Index>(f)).transpose();
  Moments plane;  // area, ∫ f dA, ∫ f fᵀ dA
  for (std::size_t k = 1; k + 1 < face.size(); ++k) {
    const Vector3 a = hull.vertices.row(face[0]).transpose();
    const Vector3 b = hull.vertices.row(face[k]).transpose();
    const Vector3 c = hull.vertices.row(face[k + 1]).transpose();
    const double area = 0.5 * n.dot((b - a).cross(c - a));
    const Vector3 sum = a + b + c;
    plane.volume += area;
    plane.first += area / 3.0 * sum;
    plane.second += area / 12.0 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  Moments prism;
  prism.volume = R * plane.volume;
  prism.first = R * plane.first + 0.5 * R * R * plane.volume * n;
  prism.second = R * plane.second + 0.5 * R * R * (plane.first * n.transpose() + n * plane.first.transpose()) +
                 R * R * R / 3.0 * plane.volume * n * n.transpose();
  return prism;
}

Moments edge_wedge(const Vector3& a, const Vector3& b, const Vector3& n1, const Vector3& n2, double R) {
  // along the edge: length, ∫ e, ∫ e eᵀ
  const double length = (b - a).norm();
  const Vector3 e1 = 0.5 * length * (a + b);
  const Matrix3 e2 = length / 6.0 * (a * a.transpose() + b * b.transpose() + (a + b) * (a + b).transpose());

  // across: area, ∫ s, ∫ s sᵀ of the circular sector
  const Arc turn = arc(n1, n2);
  const double theta = turn.angle;
  const double sine = std::sin(theta);
  const double quarter = 0.25 * std::sin(2.0 * theta);
  const double area = 0.5 * R * R * theta;
  const Vector3 s1 = R * R * R / 3.0 * arc_integral(turn, n1);
  const Matrix3 s2 =
      0.25 * R * R * R * R *
      ((0.5 * theta + quarter) * n1 * n1.transpose() + (0.5 * theta - quarter) * turn.m * turn.m.transpose() +
       0.5 * sine * sine * (n1 * turn.m.transpose() + turn.m * n1.transpose()));

  Moments wedge;
  wedge.volume = length * area;
  wedge.first = area * e1 + length * s1;
  wedge.second = area * e2 + e1 * s1.transpose() + s1 * e1.transpose() + length * s2;
  return wedge;
}

/// Signed area of a spherical triangle (van Oosterom and Strackee).
double spherical_triangle(const Vector3& a, const Vector3& b, const Vector3& c) {
  return 2.0 * std::atan2(a.dot(b.cross(c)), 1.0 + a.dot(b) + b.dot(c) + c.dot(a));
}

Moments vertex_sector(const Vector3& v, const std::vector<Vector3>& normals, double R) {
  double area = 0.0;
  Vector3 first = Vector3::Zero();
  Matrix3 sides = Matrix3::Zero();
  for (std::size_t j = 0; j < normals.size(); ++j) {
    const Vector3& n1 = normals[j];
    const Vector3& n2 = normals[(j + 1) % normals.size()];
    const Arc side = arc(n1, n2);
    if (j >= 1 && j + 1 < normals.size()) area += spherical_triangle(normals[0], n1, n2);
    first += 0.5 * side.angle * side.nu;
    sides += arc_integral(side, n1) * side.nu.transpose() / 3.0;
  }
  const double R3 = R * R * R;
  Moments sector;
  sector.volume = R3 / 3.0 * area;
  sector.first = 0.25 * R3 * R * first;
  sector.second = 0.2 * R3 * R * R * (area / 3.0 * Matrix3::Identity() + 0.5 * (sides + sides.transpose()));
  return sector.posed(Pose::translation(v));
}

}  // namespace

Moments rounded_polyhedron_moments(const Hull& given, double R) {
  // about the mean of the vertices, so that a distant origin costs no digits; one after another, as Eigen's own sums
  // begin where memory is aligned, and their rounding is then that of the place in memory
  Vector3 mean = Vector3::Zero();
  for (Eigen::Index i = 0; i < given.vertices.rows(); ++i) mean += given.vertices.row(i).transpose();
  mean /= static_cast<double>(given.vertices.rows());
  Hull hull = given;
  hull.vertices.rowwise() -= mean.transpose();
  const auto normal = [&](int f) -> Vector3 { return hull.normals.row(f).transpose(); };

  // the face to the left of each directed edge
  std::map<std::pair<int, int>, int> left;
  for (std::size_t f = 0; f < hull.faces.size(); ++f) {
    const std::vector<int>& face = hull.faces[f];
    for (std::size_t k = 0; k < face.size(); ++k) left[{face[k], face[(k + 1) % face.size()]}] = static_cast<int>(f);
  }

  Moments moments = polyhedron_moments(hull);
  for (std::size_t f = 0; f < hull.faces.size(); ++f) moments += face_prism(hull, f, R);
  for (const auto& [edge, f] : left) {
    const auto& [i, j] = edge;
    if (i < j)
      moments += edge_wedge(hull.vertices.row(i).transpose(), hull.vertices.row(j).transpose(), normal(f),
                            normal(left.at({j, i})), R);
  }

  // faces around each vertex, counter-clockwise: from the face of an edge that leaves it to the one beyond the edge
  // that enters it in that face
  std::map<int, std::map<int, int>> next_out;  // vertex, leaving edge's head -> next leaving edge's head
  for (const std::vector<int>& face : hull.faces) {
    for (std::size_t k = 0; k < face.size(); ++k) {
      const int before = face[(k + face.size() - 1) % face.size()];
      next_out[face[k]][face[(k + 1) % face.size()]] = before;
    }
  }
  for (const auto& [v, turns] : next_out) {
    std::vector<Vector3> normals;
    const int start = turns.begin()->first;
    int head = start;
    do {
      normals.push_back(normal(left.at({v, head})));
      head = turns.at(head);
    } while (head != start && normals.size() <= turns.size());
    moments += vertex_sector(hull.vertices.row(v).transpose(), normals, R);
  }
  return moments.posed(Pose::translation(mean));
}

}  // namespace tangere::internal
