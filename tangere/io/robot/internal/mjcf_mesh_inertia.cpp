/// Sums over pyramids from an apex o to each triangle (a, b, c), or over the triangles alone. With x = a − o, … and
/// s = x + y + z:
///
///   volume     V = x · (y × z) / 6, or |V|            area       A = |(y − x) × (z − x)| / 2
///   centre     o + s / 4                               centre     o + s / 3
///   ∫ r rᵀ     V (s sᵀ + x xᵀ + y yᵀ + z zᵀ) / 20      ∫ r rᵀ     A (s sᵀ + x xᵀ + y yᵀ + z zᵀ) / 12
///
/// The apex is the middle of the surface for the centre of mass, and then that centre for the mass and the second
/// moments, as MuJoCo has it: where the surface is open or pyramids count as positive, the two volumes differ.

#include "tangere/io/robot/internal/mjcf_mesh_inertia.hpp"

#include <array>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

namespace tangere::internal {
namespace {

struct Piece {
  Vector3 x, y, z;

  [[nodiscard]] Vector3 sum() const { return x + y + z; }
  [[nodiscard]] double area() const { return 0.5 * (y - x).cross(z - x).norm(); }
  [[nodiscard]] double size(MeshInertia kind) const {
    if (kind == MeshInertia::shell) return area();
    const double volume = x.dot(y.cross(z)) / 6.0;
    return kind == MeshInertia::legacy ? std::abs(volume) : volume;
  }
  [[nodiscard]] Matrix3 second_moment() const {
    return sum() * sum().transpose() + x * x.transpose() + y * y.transpose() + z * z.transpose();
  }
};

template <class F>
void each_piece(const TriangleMesh& mesh, const Vector3& apex, F&& f) {
  for (const std::array<int, 3>& triangle : mesh.triangles) {
    const auto corner = [&](int k) -> Vector3 { return mesh.vertices[triangle[k]] - apex; };
    f(Piece{corner(0), corner(1), corner(2)});
  }
}

/// The weighted points of all pieces; a part of each piece's `sum()`.
Vector3 center_of(const TriangleMesh& mesh, MeshInertia kind, const Vector3& apex, double part) {
  double size = 0.0;
  Vector3 center = Vector3::Zero();
  each_piece(mesh, apex, [&](const Piece& piece) {
    size += piece.size(kind);
    center += piece.size(kind) * part * piece.sum();
  });
  return apex + center / size;
}

}  // namespace

std::optional<MassProperties> mesh_inertia(const TriangleMesh& mesh, MeshInertia kind) {
  const bool shell = kind == MeshInertia::shell;
  const Vector3 middle = center_of(mesh, MeshInertia::shell, Vector3::Zero(), 1.0 / 3.0);
  const Vector3 center = shell ? middle : center_of(mesh, kind, middle, 0.25);
  double size = 0.0;
  Matrix3 P = Matrix3::Zero();
  each_piece(mesh, center, [&](const Piece& piece) {
    size += piece.size(kind);
    P += piece.size(kind) / (shell ? 12.0 : 20.0) * piece.second_moment();
  });
  const Matrix3 I = P.trace() * Matrix3::Identity() - P;
  if (!center.allFinite() || !I.allFinite() || !(size > 0.0)) return std::nullopt;
  // second moments of a body are positive
  const Vector3 moments = Eigen::SelfAdjointEigenSolver<Matrix3>(P, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(moments[0] > 1e-12 * moments[2])) return std::nullopt;
  return MassProperties{size, center, I};
}

}  // namespace tangere::internal
