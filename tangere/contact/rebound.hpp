#pragma once

/// Restitution of a pair of the single-level problem (private to contact): Newton's law on the normal velocity, as the
/// distance b that the pair keeps at the end of the step, s_γ = α − 1 − d κ − b.
///
/// With the collision of the *old* poses, relaxed by the same κ: a = α − 1 − d κ, the force f on B, the velocity u of B
/// against A at the contact point, the closing rate c = −f · u of α and the closing speed w = c / |f|. What bounces
/// separates at e c over the step, from where it was:
///
///   t = a + h e c                                                 α − 1 − d κ at the end of the step
///   b = t G(t) G(h c − a) G(e w − w_bounce)                       h the time step; all in the pair's units
///
/// G rises from 0 to 1 within √κ, twice differentiable: a pair bounces that would overlap at its old velocity, faster
/// than `ContactOptions::bounce_speed`, as in hard contact (BounceMode::discrete). b is a function of the old state, so
/// that the problem of the step is what it was but for a constant, and derivatives are a column more.

#include "tangere/contact/bilevel.hpp"
#include "tangere/contact/smooth_pair.hpp"
#include "tangere/math/aligned.hpp"

namespace tangere {

/// An impact, in the pair's units. Twists are of B against A, about the pair's origin, world axes.
struct Impact {
  Pose X_A = {};
  Pose X_B = {};
  Vector6 twist = Vector6::Zero();
  double restitution = 0.0;
  double time_step = 0.0;
  double bounce_speed = 0.0;
  /// d κ.
  double shift = 0.0;
  /// The pair's unit of length, in metres.
  double length = 1.0;
};

class Rebound {
 public:
  /// b. The sets are those of `pair`. Without an answer of the collision nothing bounces.
  double solve(const SmoothPair& pair, const Impact& impact, const NcpOptions& options, CollisionSolver& collisions);

  /// After `solve`: how b moves, zero where it does not bounce.
  void differentiate();
  struct Gradient {
    /// By the twists of A and B about x, and by the velocity of B against A there.
    Vector12 xi = Vector12::Zero();
    Vector3 velocity = Vector3::Zero();
    double restitution = 0.0;
  };
  [[nodiscard]] const Gradient& gradient() const { return gradient_; }
  /// By a parameter of the shape of a side (0: A).
  [[nodiscard]] double by_size(int side, int parameter);

  [[nodiscard]] bool bounces() const { return bounces_; }
  /// The contact point of the old poses, pair's units.
  [[nodiscard]] const Vector3& x() const { return pair_.x; }

 private:
  void bind(const SmoothPair& pair, double length);
  [[nodiscard]] double change(const Vector4& g_A, const Vector4& g_B) const;

  SmoothPair pair_;
  AlignedVector numbers_;
  Impact impact_;
  bool bounces_ = false;
  Vector3 f_ = Vector3::Zero();
  Vector3 u_ = Vector3::Zero();
  // of b by a, by c at fixed w, by w, and by e
  double by_gap_ = 0.0;
  double by_rate_ = 0.0;
  double by_speed_ = 0.0;
  double by_restitution_ = 0.0;
  Gradient gradient_;
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor | Eigen::DontAlign> H_;
  int pivots_[4] = {};
};

}  // namespace tangere
