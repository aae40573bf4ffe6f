#include "tangere/multibody/configuration.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

Eigen::Quaterniond read_quaternion(const double* q) {
  const Eigen::Quaterniond quaternion(q[3], q[0], q[1], q[2]);
  if (!(quaternion.squaredNorm() > 1e-24)) throw InputError("q", "holds a quaternion of length 0");
  return quaternion.normalized();
}

/// exp as a quaternion: (sinc(θ/2)/2 φ, cos(θ/2)).
Eigen::Quaterniond turn(const Vector3& phi) {
  const double half = 0.5 * phi.norm();
  const double scale = half < 1e-6 ? 0.5 * (1.0 - half * half / 6.0) : 0.5 * std::sin(half) / half;
  return {std::cos(half), scale * phi[0], scale * phi[1], scale * phi[2]};
}

Vector3 logarithm(const Eigen::Quaterniond& q) {
  const double sign = q.w() < 0.0 ? -1.0 : 1.0;
  const Vector3 v = sign * q.vec();
  const double length = v.norm();
  const double w = sign * q.w();
  return (length < 1e-100 ? 2.0 / w : 2.0 * std::atan2(length, w) / length) * v;
}

void write(const Eigen::Quaterniond& quaternion, double* q) {
  q[0] = quaternion.x();
  q[1] = quaternion.y();
  q[2] = quaternion.z();
  q[3] = quaternion.w();
}

bool has_quaternion(const Joint& joint) { return joint.nq != joint.nv; }
/// Offset of a joint's quaternion and angular velocity.
int before_rotation(const Joint& joint) { return joint.nv - 3; }

}  // namespace

VectorX neutral_configuration(const Model& model) {
  VectorX q = VectorX::Zero(model.nq());
  for (const Joint& joint : model.joints())
    if (has_quaternion(joint)) q[joint.first_q + joint.nq - 1] = 1.0;
  return q;
}

VectorX random_configuration(const Model& model, Random& random) {
  VectorX q(model.nq());
  for (const Joint& joint : model.joints()) {
    const bool turns = joint.spec.type == JointType::revolute || joint.spec.type == JointType::universal ||
                       joint.spec.type == JointType::screw;
    const int euclidean = has_quaternion(joint) ? before_rotation(joint) : joint.nv;
    for (int k = 0; k < euclidean; ++k) {
      const DofSpec& dof = model.dofs()[joint.first_v + k];
      const bool angle = turns || (joint.spec.type == JointType::planar && k == 2);
      const double reach = angle ? std::numbers::pi : 1.0;
      double lower = dof.lower;
      double upper = dof.upper;
      if (!std::isfinite(lower)) lower = std::isfinite(upper) ? upper - 2.0 * reach : -reach;
      if (!std::isfinite(upper)) upper = lower + 2.0 * reach;
      q[joint.first_q + k] = random.uniform(lower, upper);
    }
    if (has_quaternion(joint))
      write(Eigen::Quaterniond(random.rotation()), q.data() + joint.first_q + before_rotation(joint));
  }
  follow_mimics(model, q);
  return q;
}

void follow_mimics(const Model& model, Eigen::Ref<VectorX> q) {
  require_size("q", q.size(), model.nq());
  for (const Joint& joint : model.joints()) {
    // along the chain of sources: multiplier and offset of the whole chain
    const Joint* source = &joint;
    double multiplier = 1.0;
    double offset = 0.0;
    while (source->mimic_source >= 0) {
      offset += multiplier * source->spec.mimic->offset;
      multiplier *= source->spec.mimic->multiplier;
      source = &model.joint(source->mimic_source);
    }
    if (source != &joint) q[joint.first_q] = multiplier * q[source->first_q] + offset;
  }
}

void integrate(const Model& model, VectorArgument q, VectorArgument delta, Eigen::Ref<VectorX> out) {
  require_size("q", q.size(), model.nq());
  require_size("delta", delta.size(), model.nv());
  require_size("out", out.size(), model.nq());
  for (const Joint& joint : model.joints()) {
    const double* from = q.data() + joint.first_q;
    const double* d = delta.data() + joint.first_v;
    double* to = out.data() + joint.first_q;
    if (!has_quaternion(joint)) {
      for (int k = 0; k < joint.nv; ++k) to[k] = from[k] + d[k];
      continue;
    }
    const int at = before_rotation(joint);
    const Eigen::Quaterniond R = read_quaternion(from + at);
    if (at > 0) {
      const Vector3 moved = Vector3(from[0], from[1], from[2]) + R * Vector3(d[0], d[1], d[2]);
      for (int k = 0; k < 3; ++k) to[k] = moved[k];
    }
    write((R * turn({d[at], d[at + 1], d[at + 2]})).normalized(), to + at);
  }
}

void difference(const Model& model, VectorArgument q_0, VectorArgument q_1, Eigen::Ref<VectorX> delta) {
  require_size("q_0", q_0.size(), model.nq());
  require_size("q_1", q_1.size(), model.nq());
  require_size("delta", delta.size(), model.nv());
  for (const Joint& joint : model.joints()) {
    const double* from = q_0.data() + joint.first_q;
    const double* to = q_1.data() + joint.first_q;
    double* d = delta.data() + joint.first_v;
    if (!has_quaternion(joint)) {
      for (int k = 0; k < joint.nv; ++k) d[k] = to[k] - from[k];
      continue;
    }
    const int at = before_rotation(joint);
    const Eigen::Quaterniond R = read_quaternion(from + at);
    if (at > 0) {
      const Vector3 way = R.conjugate() * Vector3(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
      for (int k = 0; k < 3; ++k) d[k] = way[k];
    }
    const Vector3 phi = logarithm(R.conjugate() * read_quaternion(to + at));
    for (int k = 0; k < 3; ++k) d[at + k] = phi[k];
  }
}

void integrate_jacobians(const Model& model, VectorArgument q, VectorArgument delta, MatrixX& d_q, MatrixX& d_delta) {
  require_size("q", q.size(), model.nq());
  require_size("delta", delta.size(), model.nv());
  d_q.setIdentity(model.nv(), model.nv());
  d_delta.setIdentity(model.nv(), model.nv());
  for (const Joint& joint : model.joints()) {
    if (!has_quaternion(joint)) continue;
    // exp(φ) =: E. R exp(δ) moved by exp(ε) before: R exp(ε) E = R E exp(Eᵀ ε)
    const int v = joint.first_v;
    const int at = v + before_rotation(joint);
    const Vector3 phi = delta.segment<3>(at);
    const Matrix3 Et = so3::exp(phi).transpose();
    d_q.block<3, 3>(at, at) = Et;
    d_delta.block<3, 3>(at, at) = so3::right_jacobian(phi);
    if (at == v) continue;
    // p + R δ_l, seen in the new axes
    const Vector3 linear = delta.segment<3>(v);
    d_q.block<3, 3>(v, v) = Et;
    d_q.block<3, 3>(v, at) = -Et * so3::hat(linear);
    d_delta.block<3, 3>(v, v) = Et;
  }
}

void difference_jacobians(const Model& model, VectorArgument q_0, VectorArgument q_1, MatrixX& d_q_0, MatrixX& d_q_1) {
  require_size("q_0", q_0.size(), model.nq());
  require_size("q_1", q_1.size(), model.nq());
  d_q_0 = -MatrixX::Identity(model.nv(), model.nv());
  d_q_1.setIdentity(model.nv(), model.nv());
  for (const Joint& joint : model.joints()) {
    if (!has_quaternion(joint)) continue;
    const int v = joint.first_v;
    const int at = v + before_rotation(joint);
    const int q = joint.first_q + before_rotation(joint);
    const Eigen::Quaterniond R_0 = read_quaternion(q_0.data() + q);
    const Eigen::Quaterniond R_01 = R_0.conjugate() * read_quaternion(q_1.data() + q);
    const Vector3 phi = logarithm(R_01);
    const Matrix3 inverse = so3::right_jacobian_inverse(phi);
    d_q_1.block<3, 3>(at, at) = inverse;
    // exp(-ε) E = E exp(-Eᵀ ε), and J_r(φ)⁻¹ Eᵀ = J_r(-φ)⁻¹
    d_q_0.block<3, 3>(at, at) = -inverse * R_01.toRotationMatrix().transpose();
    if (at == v) continue;
    const Vector3 way = R_0.conjugate() * (q_1.segment<3>(joint.first_q) - q_0.segment<3>(joint.first_q));
    d_q_0.block<3, 3>(v, at) = so3::hat(way);
    d_q_1.block<3, 3>(v, v) = R_01.toRotationMatrix();
  }
}

VectorX tangent_gradient(const Model& model, VectorArgument q, VectorArgument dl_dq) {
  require_size("q", q.size(), model.nq());
  require_size("dl_dq", dl_dq.size(), model.nq());
  VectorX out(model.nv());
  for (const Joint& joint : model.joints()) {
    const int from = joint.first_q;
    const int to = joint.first_v;
    if (!has_quaternion(joint)) {
      out.segment(to, joint.nv) = dl_dq.segment(from, joint.nv);
      continue;
    }
    const int at = before_rotation(joint);
    const Eigen::Quaterniond R = read_quaternion(q.data() + from + at);
    if (at > 0) out.segment<3>(to) = R.conjugate() * Vector3(dl_dq.segment<3>(from));
    // Q moves by ½ Q (δ, 0) = ½ (w δ + v × δ, −v · δ)
    const Vector3 by_vector = dl_dq.segment<3>(from + at);
    const double by_w = dl_dq[from + at + 3];
    out.segment<3>(to + at) = 0.5 * (R.w() * by_vector + by_vector.cross(R.vec()) - by_w * R.vec());
  }
  return out;
}

}  // namespace tangere
