#include "tangere/geometry/internal/moments.hpp"

#include <numbers>

#include <Eigen/Geometry>

namespace tangere::internal {

Moments& Moments::operator+=(const Moments& other) {
  volume += other.volume;
  first += other.first;
  second += other.second;
  return *this;
}

Moments Moments::posed(const Pose& X) const {
  const Vector3 turned = X.R * first;
  Moments moved;
  moved.volume = volume;
  moved.first = turned + volume * X.p;
  moved.second = X.R * second * X.R.transpose() + turned * X.p.transpose() + X.p * turned.transpose() +
                 volume * X.p * X.p.transpose();
  return moved;
}

Moments Moments::centred(double v, const Vector3& spread) {
  Moments moments;
  moments.volume = v;
  moments.second = (v * spread).asDiagonal();
  return moments;
}

Moments ball_moments(double radius) {
  const double volume = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  return Moments::centred(volume, Vector3::Constant(radius * radius / 5.0));
}

/// A cylinder and two half balls. A half ball of volume v has its centroid 3R/8 from its flat side and the spread R²/5
/// about the middle of that side in every direction.
Moments capsule_moments(double radius, double length) {
  const double R2 = radius * radius;
  const double half = 0.5 * length;
  Moments moments =
      Moments::centred(std::numbers::pi * R2 * length, Vector3(length * length / 12.0, R2 / 4.0, R2 / 4.0));
  const Moments ball = ball_moments(radius);
  moments += Moments::centred(ball.volume, Vector3(half * half + 0.75 * half * radius + R2 / 5.0, R2 / 5.0, R2 / 5.0));
  return moments;
}

Moments tetrahedron_moments(const Vector3& a, const Vector3& b, const Vector3& c) {
  Moments moments;
  const Vector3 sum = a + b + c;
  moments.volume = a.dot(b.cross(c)) / 6.0;
  moments.first = moments.volume / 4.0 * sum;
  moments.second =
      moments.volume / 20.0 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  return moments;
}

Moments polyhedron_moments(const Hull& hull) {
  // tetrahedra from the mean of the vertices, so that a distant origin costs no digits
  // (a sum row by row: Eigen's own goes by the address, and so do its last bits)
  Vector3 mean = Vector3::Zero();
  for (Eigen::Index i = 0; i < hull.vertices.rows(); ++i) mean += hull.vertices.row(i).transpose();
  mean /= static_cast<double>(hull.vertices.rows());
  const auto vertex = [&](int i) -> Vector3 { return hull.vertices.row(i).transpose() - mean; };
  Moments moments;
  for (const std::vector<int>& face : hull.faces)
    for (std::size_t k = 1; k + 1 < face.size(); ++k)
      moments += tetrahedron_moments(vertex(face[0]), vertex(face[k]), vertex(face[k + 1]));
  return moments.posed(Pose::translation(mean));
}

}  // namespace tangere::internal
