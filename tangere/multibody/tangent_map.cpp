#include "tangere/multibody/tangent_map.hpp"

#include <Eigen/Geometry>

#include "tangere/math/error.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

bool has_quaternion(const Joint& joint) { return joint.nq != joint.nv; }
/// Offset of a joint's quaternion and angular velocity.
int before_rotation(const Joint& joint) { return joint.nv - 3; }

Eigen::Quaterniond read_quaternion(const double* q) {
  const Eigen::Quaterniond quaternion(q[3], q[0], q[1], q[2]);
  if (!(quaternion.squaredNorm() > 1e-24)) throw InputError("q", "holds a quaternion of length 0");
  return quaternion.normalized();
}

/// The columns of 2 d(R exp(δ))/dδ at 0, orthonormal: R (x, 0), R (y, 0), R (z, 0) as quaternions.
Eigen::Matrix<double, 4, 3> turn_columns(const Eigen::Quaterniond& R) {
  Eigen::Matrix<double, 4, 3> out;
  for (int k = 0; k < 3; ++k) out.col(k) = (R * Eigen::Quaterniond(0.0, k == 0, k == 1, k == 2)).coeffs();
  return out;
}

}  // namespace

void map_tangent(const Model& model, VectorArgument q, TangentMap map, VectorArgument in, Eigen::Ref<VectorX> out) {
  const bool to_q = map == TangentMap::to_rates || map == TangentMap::gradient_from_tangent;
  const bool inverse = map == TangentMap::from_rates || map == TangentMap::gradient_from_tangent;
  require_size("q", q.size(), model.nq());
  require_size("in", in.size(), to_q ? model.nv() : model.nq());
  require_size("out", out.size(), to_q ? model.nq() : model.nv());
  for (const Joint& joint : model.joints()) {
    const double* from = in.data() + (to_q ? joint.first_v : joint.first_q);
    double* to = out.data() + (to_q ? joint.first_q : joint.first_v);
    if (!has_quaternion(joint)) {
      for (int k = 0; k < joint.nv; ++k) to[k] = from[k];
      continue;
    }
    const int at = before_rotation(joint);
    const Eigen::Map<const Eigen::Vector4d> numbers(q.data() + joint.first_q + at);
    const Eigen::Quaterniond R = read_quaternion(numbers.data());
    if (at > 0) {
      const Vector3 linear(from[0], from[1], from[2]);
      Eigen::Map<Vector3>{to} = to_q ? R * linear : R.conjugate() * linear;
    }
    // T is half the columns; its pseudo-inverse twice their transpose, over the quaternion's length
    const double scale = inverse ? 2.0 / numbers.norm() : 0.5;
    const Eigen::Matrix<double, 4, 3> columns = turn_columns(R);
    if (to_q)
      Eigen::Map<Eigen::Vector4d>{to + at} = scale * (columns * Eigen::Map<const Vector3>(from + at));
    else
      Eigen::Map<Vector3>{to + at} = scale * (columns.transpose() * Eigen::Map<const Eigen::Vector4d>(from + at));
  }
}

void normalize(const Model& model, Eigen::Ref<VectorX> q) {
  require_size("q", q.size(), model.nq());
  for (const Joint& joint : model.joints())
    if (has_quaternion(joint)) {
      double* quaternion = q.data() + joint.first_q + before_rotation(joint);
      Eigen::Map<Eigen::Vector4d>{quaternion} = read_quaternion(quaternion).coeffs();
    }
}

}  // namespace tangere
