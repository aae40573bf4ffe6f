#pragma once

/// The derivative of the last part of a step (private to sim).
///
///   q' = q ⊕ d,  d = dt v̂,  v̂ = v⁺ or v          v' = v⁺, but Xᵀ v⁺_linear at free joints, X = exp(d_angular)
///
/// All of it is block diagonal by joints: for a free joint, with J_r the right Jacobian of SO(3),
///
///   dp' = Xᵀ (δp + δφ × d_linear + δd_linear)      dφ' = Xᵀ δφ + J_r δd_angular
///   dv'_linear = Xᵀ δv⁺ + v'_linear × J_r δd_angular

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

/// The last part of a step: (δq, δd, δv⁺) to (δq', δv'), applied in place to rows of matrices.
class Integration {
 public:
  /// Along d, with v⁺. Both must outlive it.
  Integration(const Model& model, const VectorX& d, const VectorX& v_plus) : model_(model), d_(d), v_plus_(v_plus) {}

  /// `q` has δq and becomes δq'; `d` is δd = dt δv̂; `v` has δv⁺ and becomes δv'. One column a direction.
  template <class Q, class D, class V>
  void forward(Q&& q, const D& d, V&& v) const {
    // all at once, then the joints that turn
    q += d;
    for (const Joint& joint : model_.joints()) {
      if (joint.nq == joint.nv) continue;
      const int k = joint.first_v;
      const int turn = k + joint.nv - 3;
      const Turn t(moved(turn));
      const bool free = joint.nv == 6;
      const Vector3 lever = free ? moved(k) : Vector3::Zero();
      const Vector3 v_next = free ? Vector3(t.Xt * v_plus_.segment<3>(k)) : Vector3::Zero();
      for (Eigen::Index column = 0; column < q.cols(); ++column) {
        const Vector3 d_angular = d.template block<3, 1>(turn, column);
        const Vector3 phi = q.template block<3, 1>(turn, column) - d_angular;
        const Vector3 turned = t.J_r * d_angular;
        q.template block<3, 1>(turn, column) = t.Xt * phi + turned;
        if (!free) continue;
        const Vector3 p = q.template block<3, 1>(k, column) + phi.cross(lever);
        q.template block<3, 1>(k, column) = t.Xt * p;
        const Vector3 linear = v.template block<3, 1>(k, column);
        v.template block<3, 1>(k, column) = t.Xt * linear + v_next.cross(turned);
      }
    }
  }

  /// Transposed: `q` has the gradient of q' and becomes that of q, `d` becomes that of d, `v` that of v' and becomes
  /// v⁺'s.
  void reverse(VectorX& q, VectorX& d, VectorX& v) const {
    d = q;
    for (const Joint& joint : model_.joints()) {
      if (joint.nq == joint.nv) continue;
      const int k = joint.first_v;
      const int turn = k + joint.nv - 3;
      const Turn t(moved(turn));
      const Vector3 angular = q.segment<3>(turn);
      q.segment<3>(turn) = t.Xt.transpose() * angular;
      d.segment<3>(turn) = t.J_r.transpose() * angular;
      if (joint.nv != 6) continue;
      const Vector3 linear = t.Xt.transpose() * q.segment<3>(k);
      q.segment<3>(k) = linear;
      d.segment<3>(k) = linear;
      // (δφ × d)ᵀ g = δφ · (d × g)
      q.segment<3>(turn) += moved(k).cross(linear);
      const Vector3 v_next = t.Xt * v_plus_.segment<3>(k);
      const Vector3 g = v.segment<3>(k);
      v.segment<3>(k) = t.Xt.transpose() * g;
      d.segment<3>(turn) += t.J_r.transpose() * g.cross(v_next);
    }
  }

 private:
  struct Turn {
    explicit Turn(const Vector3& phi) : Xt(so3::exp(phi).transpose()), J_r(so3::right_jacobian(phi)) {}
    Matrix3 Xt;
    Matrix3 J_r;
  };

  [[nodiscard]] Vector3 moved(int k) const { return d_.segment<3>(k); }

  const Model& model_;
  const VectorX& d_;
  const VectorX& v_plus_;
};

/// d of a step.
inline VectorX& displacement(const World& world, const Tape& tape, VectorX& d) {
  const bool semi_implicit = world.options().integrator == Integrator::semi_implicit;
  return d = world.options().time_step * (semi_implicit ? tape.v_plus : tape.v);
}

}  // namespace tangere
