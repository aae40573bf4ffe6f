#pragma once

/// Free bodies that nothing hangs from (private to sim): between contacts they keep their momentum, linear and angular,
/// and their energy, however they tumble.
///
/// A step gives such a body the velocity v̂ = v + M⁻¹ (impulses) at its old attitude, without the terms of turning axes:
/// R M v̂ is its momentum. It then turns by X = cay(d), with the implicit midpoint rule of Euler's equations
///
///   J d − ½ (J d) × d = J a,   a = dt ω̂                         J about the centre of mass c, in the body's axes
///
/// which keeps both invariants, and its velocities are what that momentum is at the new attitude:
///
///   ω' = J⁻¹ Xᵀ J ω̂,   v' = Xᵀ (v̂ + ω̂ × c) − ω' × c,   p' = p + R (dt v̂ + a × c + c − X c)
///
/// so that the centre flies straight.

#include <vector>

#include "tangere/contact/scene/link_moments.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// The lone bodies of a model; `alone` marks their links.
[[nodiscard]] std::vector<LoneBody> find_lone_bodies(const Model& model, const std::vector<char>& alone);

/// How the moments of lone bodies change with some variables, a column each; null for columns beyond these.
class MomentColumns {
 public:
  /// All zero.
  void reset(std::size_t num_bodies, std::size_t columns) {
    columns_ = columns;
    changes_.assign(num_bodies * columns, {});
  }

  [[nodiscard]] LinkMoments& at(std::size_t body, int column) {
    return changes_[body * columns_ + static_cast<std::size_t>(column)];
  }
  [[nodiscard]] const LinkMoments* find(std::size_t body, int column) const {
    const auto i = static_cast<std::size_t>(column);
    return i < columns_ ? &changes_[body * columns_ + i] : nullptr;
  }

 private:
  std::size_t columns_ = 0;
  std::vector<LinkMoments> changes_;
};

/// By parameters of a step, a column each.
void set_moment_columns(const World& world, std::span<const StepParameter> parameters, MomentColumns& out);

/// The velocity in body axes changes at this rate in free flight: −M⁻¹ (what turning axes add).
[[nodiscard]] Vector6 flight_acceleration(const LoneBody& body, const Vector6& v);

/// How such a body moves by d = dt v̂ with the velocity v̂ = `v`.
class LoneMotion {
 public:
  LoneMotion(const LoneBody& body, const Vector6& d, const Vector6& v);

  /// The displacement of `integrate`: linear in the old axes, then a rotation vector.
  [[nodiscard]] Vector6 displacement() const;
  /// In the new axes.
  [[nodiscard]] Vector6 velocity() const;

  /// δq' and δv' by δq, δd, δv̂ and the body's moments (mass unused; null: held).
  void forward(const Vector6& dq, const Vector6& dd, const Vector6& dv, const LinkMoments* moments, Vector6& q_next,
               Vector6& v_next) const;
  /// Transposed, moments held: gradients of q' and v' to those of q, d and v̂.
  void reverse(const Vector6& q_next, const Vector6& v_next, Vector6& dq, Vector6& dd, Vector6& dv) const;

 private:
  const LoneBody& body_;
  Vector3 a_;
  Vector3 turn_;         // d of the midpoint rule
  Matrix3 solve_;        // its derivative's inverse
  Matrix3 X_;            // cay(turn)
  Matrix3 trivialised_;  // Xᵀ δX = hat(trivialised δturn)
  Vector3 way_;          // in the old axes
  Vector3 spin_;         // ω̂
  Vector3 spin_next_;
  Vector3 momentum_next_;         // J ω', the angular momentum in the new axes
  Vector3 center_velocity_;       // v̂ + ω̂ × c
  Vector3 center_velocity_next_;  // in the new axes
};

}  // namespace tangere
