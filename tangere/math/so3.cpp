#include "tangere/math/so3.hpp"

#include <Eigen/Geometry>
#include <cmath>

#include "tangere/math/stumpff.hpp"

namespace tangere::so3 {
namespace {

// (1 - (θ/2) cot(θ/2)) / θ² as a function of x = θ²: the coefficient of hat² in the inverse Jacobians
double inverse_coefficient(double x) {
  // Σ |B_2k| x^(k-1) / (2k)!, each term under a thirty-ninth of the one before for x < 1
  if (x < 1.0) {
    constexpr double kCoefficients[] = {1.0 / 12.0,
                                        1.0 / 720.0,
                                        1.0 / 30240.0,
                                        1.0 / 1209600.0,
                                        1.0 / 47900160.0,
                                        691.0 / 1307674368000.0,
                                        1.0 / 74724249600.0,
                                        3617.0 / 10670622842880000.0,
                                        43867.0 / 5109094217170944000.0};
    double sum = 0.0;
    for (int k = 8; k >= 0; --k) sum = sum * x + kCoefficients[k];
    return sum;
  }
  const double half = 0.5 * std::sqrt(x);
  return (1.0 - half * std::cos(half) / std::sin(half)) / x;
}

}  // namespace

Matrix3 hat(const Vector3& a) {
  Matrix3 A;
  A << 0.0, -a.z(), a.y(),  //
      a.z(), 0.0, -a.x(),   //
      -a.y(), a.x(), 0.0;
  return A;
}

Vector3 vee(const Matrix3& A) { return 0.5 * Vector3(A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1)); }

Matrix3 exp(const Vector3& phi) {
  const Stumpff c = stumpff(phi.squaredNorm());
  const Matrix3 H = hat(phi);
  return Matrix3::Identity() + c.c1 * H + c.c2 * H * H;
}

Vector3 log(const Matrix3& R) {
  // the quaternion is well conditioned for every rotation, from none to a half turn
  const Eigen::Quaterniond q(R);
  const double sign = q.w() < 0.0 ? -1.0 : 1.0;
  const double w = sign * q.w();
  const Vector3 v = sign * q.vec();

  // φ = (θ / sin(θ/2)) v with tan(θ/2) = |v| / w; the ratio tends to 2 / w
  const double length = v.norm();
  const double factor = length < 1e-100 ? 2.0 / w : 2.0 * std::atan2(length, w) / length;
  return factor * v;
}

Matrix3 right_jacobian(const Vector3& phi) {
  const Stumpff c = stumpff(phi.squaredNorm());
  const Matrix3 H = hat(phi);
  return Matrix3::Identity() - c.c2 * H + c.c3 * H * H;
}

Matrix3 right_jacobian_inverse(const Vector3& phi) {
  const Matrix3 H = hat(phi);
  return Matrix3::Identity() + 0.5 * H + inverse_coefficient(phi.squaredNorm()) * H * H;
}

}  // namespace tangere::so3
