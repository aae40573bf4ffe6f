#pragma once

/// How much of its bounce an island keeps (private to contact): no more than leaves contact without work on it.
/// Newton's law alone gains energy where friction turns what bounces (Kane), and where bodies spin, whose distance at
/// the end of the step is not that of their normal velocity.
///
/// With p the momenta that contact gives in the step, v and v⁺ the velocities before and after it, the work of contact
/// is p · (v⁺ + v) / 2: of free bodies their kinetic energy after the step less that before and what forces did. The
/// island keeps the part σ of what its pairs rebound by (rebound.hpp), so that with δ = √κ
///
///   F(x) = p · ((1 + d) v⁺ + (1 − d) v) = 0,   d = δ (1 − x)³ (0 above x = 1),   σ = 1 − δ x³
///
/// where F(0) > 0, else all of it (x = 0). Bounces that lose more than δ p · (v⁺ − v) / 2 are left alone, those that
/// would gain come out even, and in between there is a seam, in which σ is twice differentiable in the state. It has a
/// kink where it becomes 0: where contact does work without any bounce (overlap that is taken back, what turns far
/// within a step), nothing is kept; and where forces turn what contact gave, p · (v⁺ − v) < 0, there is no seam (d =
/// 0).
///
/// All trees of a world are one island, and p of trees has the impulses of joints' limits, dry friction and loops in
/// it: what one robot loses, another may keep.

#include <algorithm>

#include "tangere/contact/scene/link_moments.hpp"
#include "tangere/contact/smooth/internal/smooth_problem.hpp"

namespace tangere {

class ReboundLimit {
 public:
  explicit ReboundLimit(double kappa);

  /// 0: all is kept.
  double x = 0.0;
  /// Whether no x was found at which F is 0: it then is one at which the island was seen to lose energy, or keeps
  /// nothing, and is not differentiated.
  bool held = false;
  /// Nothing is.
  [[nodiscard]] double most() const;
  [[nodiscard]] bool moves() const { return x > 0.0 && x < most() && !held; }

  /// σ and dσ/dx; d and dd/dx.
  [[nodiscard]] double share() const { return std::max(1.0 - width_ * x * x * x, 0.0); }
  [[nodiscard]] double share_slope() const { return -3.0 * width_ * x * x; }
  [[nodiscard]] double seam() const;
  [[nodiscard]] double seam_slope() const;
  /// First guess of x: F / (p · (v⁺ − v)) without a limit is `gain`.
  [[nodiscard]] double guess(double gain) const;

 private:
  double width_;
};

/// F of an island as it is solved, and its derivatives. Coordinates are the model's, in the island's order; free bodies
/// in their own axes.
class ReboundEnergy {
 public:
  /// `v` before the step, of the whole model.
  void evaluate(const SmoothProblem& problem, const SmoothIsland& island, const VectorX& v);

  [[nodiscard]] double balance(const ReboundLimit& limit) const;
  /// p · (v⁺ − v), or 0 if that is less.
  [[nodiscard]] double size() const { return size_; }
  /// d, or 0 without a seam.
  [[nodiscard]] double seam(const ReboundLimit& limit) const { return size_ > 0.0 ? limit.seam() : 0.0; }

  /// F by v⁺, and by x at fixed v⁺.
  void differentiate(const SmoothProblem& problem, const SmoothIsland& island, const ReboundLimit& limit);
  [[nodiscard]] ScratchVector::ConstView by_next() const { return by_next_.view(); }
  [[nodiscard]] double by_x() const { return by_x_; }

  // for the derivatives of F by what is before the step: (1 + d) v⁺ + (1 − d) v, M̃ of it, and p
  [[nodiscard]] ScratchVector::ConstView y() const { return y_.view(); }
  [[nodiscard]] ScratchVector::ConstView momentum() const { return momentum_.view(); }
  [[nodiscard]] ScratchVector::ConstView p() const { return p_.view(); }
  /// y of a free mover's centre of mass.
  [[nodiscard]] Vector3 center_of(const FreeMover& mover, int place) const;
  /// F by a parameter that changes a free mover's moments.
  [[nodiscard]] double by_moments(const FreeMover& mover, int place, const Vector3& gravity,
                                  const LinkMoments& change) const;

 private:
  ScratchVector next_;
  ScratchVector old_;
  ScratchVector p_;
  ScratchVector y_;
  ScratchVector momentum_;
  ScratchVector by_next_;
  double size_ = 0.0;
  double by_x_ = 0.0;
};

}  // namespace tangere
