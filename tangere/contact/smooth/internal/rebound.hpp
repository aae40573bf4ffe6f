#pragma once

/// The gap that a pair of the single-level problem keeps because of its state before the step (private to contact):
/// restitution by Newton's law on the normal velocity, and overlap that is not taken back at once. Both are the
/// distance b of s_γ = α − 1 − d κ − b at the end of the step.
///
/// With the collision of the *old* poses, relaxed by the same κ: a = α − 1 − d κ, the force f on B, the velocity u of B
/// against A at the contact point, the closing rate c = −f · u of α and the closing speed w = c / |f|; h the time step,
/// all in the pair's units. Of an overlap o = −a a step takes back r = h w_correction |f|, and leaves
///
///   φ = q P(o / q − 1/2) + (κ + k r / (k + r) + S(−h c / √(q² + w²))) G(o / q − 1/2),   q = r + κ,   P' = G
///
/// which is o − r + k r / (k + r) for what is deep, and never so little that more than q were taken back; an overlap
/// below q / 2 goes at once. k is s_γ under a body's own weight, by which what rests on b is farther out after every
/// step (no more than r of it counts: what carries more must not sink). Without weight nothing takes from the speed
/// that the relaxation adds in every step: S, which rises from 0 to a whole size where the pair comes apart faster than
/// at 1.1 to 1.3 times the speed of correction already (or that which a step's weight w takes, so that nothing sinks),
/// leaves such a pair to itself. What overlaps so separates at
/// `ContactOptions::correction_speed`. What bounces separates at e c over the step, from where it was:
///
///   t = a + h e c + φ                                             how much farther than that it is then
///   b = −φ + σ t G(t / h c) G(1 − a / h c) G(1 − w_bounce / e w)
///
/// σ is 1, or less where the island would gain energy (rebound_energy.hpp). G rises from 0 to 1 within √κ (that of φ
/// within 1), twice differentiable: a pair bounces that would overlap at its old velocity, faster than
/// `ContactOptions::bounce_speed`, as in hard contact (BounceMode::discrete). The gates compare the distances of a step
/// with each other, so that they are as narrow in a short step as in a long one. b is a function of the old state, so
/// that the problem of the step is what it was but for a constant, and derivatives are a column more.

#include "tangere/contact/smooth/internal/bilevel.hpp"
#include "tangere/contact/smooth/internal/smooth_pair.hpp"
#include "tangere/math/aligned.hpp"

namespace tangere {

/// A force of a pair, in its units, that is rounding: α has no direction in which it grows.
inline constexpr double kNoDirection = 1e-14;

/// Arguments of φ, in units: o; −h c, the way apart that the old velocity makes in a step; r; k; the way that
/// a step's weight makes in it; κ.
struct Overlap {
  double overlap = 0.0;
  double separation = 0.0;
  double recovery = 0.0;
  double hover = 0.0;
  double fall = 0.0;
  double kappa = 0.0;
};
/// φ, and its derivatives.
struct KeptOverlap {
  double value = 0.0;
  double by_overlap = 0.0;
  double by_separation = 0.0;
  double by_recovery = 0.0;
  double by_fall = 0.0;
};
[[nodiscard]] KeptOverlap keep_overlap(const Overlap& overlap);

/// 0 below 0, 1 above `width`, twice differentiable; and its slope.
struct Gate {
  double value = 0.0;
  double slope = 0.0;
};
[[nodiscard]] Gate gate(double x, double width);
/// ∫ G from 0 to t, G the gate of width 1.
[[nodiscard]] double gate_integral(double t);

/// A pair before the step, in its units. Twists are of B against A, about the pair's origin, world axes.
struct Impact {
  Pose X_A = {};
  Pose X_B = {};
  Vector6 twist = Vector6::Zero();
  double restitution = 0.0;
  double time_step = 0.0;
  double bounce_speed = 0.0;
  /// The way that overlap is taken back in a step.
  double recovery = 0.0;
  /// k, and the way that a step's weight makes in it.
  double hover = 0.0;
  double fall = 0.0;
  /// Whether it may overlap; if not, only restitution counts.
  bool may_overlap = false;
  /// d κ.
  double shift = 0.0;
  /// The pair's unit of length, in metres.
  double length = 1.0;
};

class Rebound {
 public:
  /// b. The sets are those of `pair`. Without an answer of the collision there is none.
  double solve(const SmoothPair& pair, const Impact& impact, const NcpOptions& options, CollisionSolver& collisions);
  /// The same with a part σ of the bounce; after `solve`.
  double keep(double share);

  /// How b moves; zero where there is none.
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

  /// Whether there is a b that moves with the old state.
  [[nodiscard]] bool acts() const { return acts_; }
  /// Whether b has no derivative: the force has no direction where centres coincide, or the collision no factors. Known
  /// after `differentiate`.
  [[nodiscard]] bool rough() const { return rough_; }
  /// Whether some of it is a bounce; and its derivative by σ.
  [[nodiscard]] bool bounces() const { return bounces_; }
  [[nodiscard]] double by_share() const { return by_share_; }
  /// The contact point of the old poses, pair's units.
  [[nodiscard]] const Vector3& x() const { return pair_.x; }

 private:
  void bind(const SmoothPair& pair, double length);
  [[nodiscard]] double keep_overlap();
  [[nodiscard]] double bounce(double kept);
  [[nodiscard]] double change(const Vector4& g_A, const Vector4& g_B) const;

  SmoothPair pair_;
  AlignedVector numbers_;
  Impact impact_;
  double kappa_ = 0.0;
  double share_ = 1.0;
  bool solved_ = false;
  bool acts_ = false;
  bool bounces_ = false;
  bool rough_ = false;
  Vector3 f_ = Vector3::Zero();
  Vector3 u_ = Vector3::Zero();
  // of b by α, by |f|, by c at fixed w, by w, by e and by σ
  double by_alpha_ = 0.0;
  double by_force_ = 0.0;
  double by_rate_ = 0.0;
  double by_speed_ = 0.0;
  double by_restitution_ = 0.0;
  double by_share_ = 0.0;
  Gradient gradient_;
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor | Eigen::DontAlign> H_;
  int pivots_[4] = {};
};

}  // namespace tangere
