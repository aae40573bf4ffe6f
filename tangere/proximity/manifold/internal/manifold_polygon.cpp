#include "tangere/proximity/manifold/internal/manifold_polygon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

#include "tangere/math/assert.hpp"

namespace tangere::internal {

PlaneBasis::PlaneBasis(const Vector3& n) {
  Eigen::Index least = 0;
  (void)n.cwiseAbs().minCoeff(&least);
  u = n.cross(Vector3::Unit(least)).normalized();
  v = n.cross(u);
}

int convex_hull(std::span<const Vector2> points, double tolerance, std::span<int> order) {
  const int count = static_cast<int>(points.size());
  std::array<int, 256> sorted;
  std::array<int, 512> chain;
  TANGERE_ASSERT(count <= 256);
  const auto at = [&](int i) -> const Vector2& { return points[i]; };
  for (int i = 0; i < count; ++i) sorted[i] = i;
  std::sort(sorted.begin(), sorted.begin() + count, [&](int a, int b) {
    if (at(a)[0] != at(b)[0]) return at(a)[0] < at(b)[0];
    if (at(a)[1] != at(b)[1]) return at(a)[1] < at(b)[1];
    return a < b;
  });
  // the last of the chain stays only if it sticks out of the line from the one before it to the new one
  int size = 0;
  const auto push = [&](int i, int least) {
    while (size > least) {
      const Vector2& a = at(chain[size - 2]);
      const Vector2 edge = at(i) - a;
      const Vector2 middle = at(chain[size - 1]) - a;
      if (cross(middle, edge) > tolerance * edge.norm() && middle.norm() > tolerance) break;
      --size;
    }
    chain[size++] = i;
  };
  for (int k = 0; k < count; ++k) push(sorted[k], 1);
  const int lower = size;
  for (int k = count - 2; k >= 0; --k) push(sorted[k], lower);
  if (size > 1) --size;

  const int kept = std::min(size, static_cast<int>(order.size()));
  for (int k = 0; k < kept; ++k) order[k] = chain[k * size / kept];
  return kept;
}

bool contains(std::span<const Vector2> polygon, const Vector2& x, double tolerance) {
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vector2 edge = polygon[(i + 1) % polygon.size()] - polygon[i];
    if (cross(edge, x - polygon[i]) < -tolerance * edge.norm()) return false;
  }
  return true;
}

double area(std::span<const Vector2> polygon) {
  double twice = 0.0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
    twice += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
  return 0.5 * twice;
}

int reduce(std::span<const Vector2> points, std::span<int> kept, int max, int fixed) {
  int count = static_cast<int>(kept.size());
  const auto at = [&](int k) -> const Vector2& { return points[kept[(k + count) % count]]; };
  // around the middle
  Vector2 middle = Vector2::Zero();
  for (int k = 0; k < count; ++k) middle += at(k) / count;
  std::sort(kept.begin(), kept.end(), [&](int a, int b) {
    const Vector2 x = points[a] - middle;
    const Vector2 y = points[b] - middle;
    const double angle_x = std::atan2(x[1], x[0]);
    const double angle_y = std::atan2(y[1], y[0]);
    return angle_x != angle_y ? angle_x < angle_y : a < b;
  });
  std::rotate(kept.begin(), std::find(kept.begin(), kept.end(), fixed), kept.end());
  while (count > max) {
    int worst = -1;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < count; ++k) {
      if (kept[k] == fixed) continue;
      const double loss = cross(at(k) - at(k - 1), at(k + 1) - at(k - 1));
      const double size = (at(k + 1) - at(k - 1)).squaredNorm() + (at(k) - at(k - 1)).squaredNorm();
      if (worst >= 0 && loss > least + 1e-6 * size) continue;
      worst = k;
      least = loss;
    }
    if (worst < 0) break;
    std::copy(kept.begin() + worst + 1, kept.begin() + count, kept.begin() + worst);
    --count;
  }
  return count;
}

}  // namespace tangere::internal
