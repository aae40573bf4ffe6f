#pragma once

/// The derivative of the last part of a step (private to sim).
///
///   q' = q ⊕ d,  d = dt v̂,  v̂ = v⁺ or v          v' = v⁺, but Xᵀ v⁺_linear at floating joints, X = exp(d_angular)
///
/// All of it is block diagonal by joints: for a floating joint, with J_r the right Jacobian of SO(3),
///
///   dp' = Xᵀ (δp + δφ × d_linear + δd_linear)      dφ' = Xᵀ δφ + J_r δd_angular
///   dv'_linear = Xᵀ δv⁺ + v'_linear × J_r δd_angular
///
/// Lone bodies have a motion of their own (lone_body.hpp).

#include <Eigen/Geometry>

#include "tangere/contact/scene/coupled_coordinates.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/sim/internal/lone_body.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

/// The last part of a step: (δq, δd, δv⁺) to (δq', δv'), applied in place to rows of matrices.
class Integration {
 public:
  /// Along d, with v⁺. Both must outlive it.
  Integration(const World& world, const VectorX& d, const VectorX& v_plus) : world_(world), d_(d), v_plus_(v_plus) {}

  /// `q` has δq and becomes δq'; `d` is δd = dt δv̂; `v` has δv⁺ and becomes δv'. One column a direction. `moments`:
  /// those of lone bodies, if they move too. `coupled`, where columns are coordinates: rows of others are zero in all
  /// three, and are left so.
  template <class Q, class D, class V>
  void forward(Q&& q, const D& d, V&& v, const MomentColumns* moments = nullptr,
               const CoupledCoordinates* coupled = nullptr) const {
    // all at once, then the joints that turn
    q += d;
    std::size_t lone = 0;
    for (const Joint& joint : world_.model().joints()) {
      if (joint.nq == joint.nv) continue;
      const int k = joint.first_v;
      if (is_lone(lone, k)) {
        forward_lone(lone++, q, d, v, moments, coupled);
        continue;
      }
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
    std::size_t lone = 0;
    for (const Joint& joint : world_.model().joints()) {
      if (joint.nq == joint.nv) continue;
      const int k = joint.first_v;
      if (is_lone(lone, k)) {
        Vector6 own_q, own_d, own_v;
        motion(lone++).reverse(q.segment<6>(k), v.segment<6>(k), own_q, own_d, own_v);
        q.segment<6>(k) = own_q;
        d.segment<6>(k) = own_d;
        v.segment<6>(k) = own_v;
        continue;
      }
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

  /// Lone bodies are in the order of their joints.
  [[nodiscard]] bool is_lone(std::size_t next, int first_v) const {
    return next < world_.lone_bodies().size() && world_.lone_bodies()[next].first_v == first_v;
  }
  [[nodiscard]] LoneMotion motion(std::size_t lone) const {
    const LoneBody& body = world_.lone_bodies()[lone];
    return {body, d_.segment<6>(body.first_v), v_plus_.segment<6>(body.first_v)};
  }
  template <class Q, class D, class V>
  void forward_lone(std::size_t lone, Q& q, const D& d, V& v, const MomentColumns* moments,
                    const CoupledCoordinates* coupled) const {
    const LoneMotion motion = this->motion(lone);
    const int k = world_.lone_bodies()[lone].first_v;
    const auto move = [&](int column) {
      const Vector6 way = d.template block<6, 1>(k, column);
      const Vector6 place = q.template block<6, 1>(k, column) - way;
      const Vector6 velocity = v.template block<6, 1>(k, column);
      // most columns are of bodies that this one does not touch
      if (moments == nullptr && velocity.isZero(0.0) && way.isZero(0.0) && place.isZero(0.0)) return;
      Vector6 q_next, v_next;
      motion.forward(place, way, velocity, moments == nullptr ? nullptr : moments->find(lone, column), q_next, v_next);
      q.template block<6, 1>(k, column) = q_next;
      v.template block<6, 1>(k, column) = v_next;
    };
    if (coupled != nullptr) {
      for (const int column : coupled->of(k)) move(column);
      return;
    }
    for (int column = 0; column < static_cast<int>(q.cols()); ++column) move(column);
  }

  const World& world_;
  const VectorX& d_;
  const VectorX& v_plus_;
};

/// d of a step.
inline VectorX& displacement(const World& world, const Tape& tape, VectorX& d) {
  const bool semi_implicit = world.options().integrator == Integrator::semi_implicit;
  return d = world.options().time_step * (semi_implicit ? tape.v_plus : tape.v);
}

}  // namespace tangere
