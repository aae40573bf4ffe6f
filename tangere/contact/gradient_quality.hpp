#pragma once

/// How far the derivatives of a step are derivatives of that step.

#include <algorithm>
#include <string_view>

namespace tangere {

/// From the best to the worst. Derivatives that combine several parts have the worst of their qualities.
enum class GradientQuality {
  /// The derivative of the step. At a tie of contact sets it is the one on one side.
  exact,
  /// The derivative of the step at another relaxation, as asked for (SmoothOptions::gradient_kappa).
  relaxed,
  /// The friction of a shape was asked for that touches another one of equal friction, which of the two counts: each
  /// has half of the derivative of their pair (StepParameter::Kind::pair_friction has all of it).
  halved_at_tie,
  /// The derivative for other contact sets than the step's, as asked for (GradientMode).
  heuristic,
  /// An impact keeps only a part of its restitution, and derivatives hold that part (StepResult::restitution_kept).
  restitution_held,
  /// The place or the frame of a contact that takes part has no derivative (ContactJacobian::exists): edges that are
  /// parallel or nearly so, coincident centres, overlaps with a second normal, corners that do not live on as a shape
  /// grows. Derivatives hold it.
  features_held,
  /// Contacts of hard contact that act contradict each other: as the state moves, no motion gives what all of them
  /// ask (a box pushed into the corner of floor and wall). The step's own slope is of the size of the inverse
  /// compliance and holds for about 1e-8; this derivative is that of the motion nearest to what they ask, in least
  /// squares.
  rows_contradict,
  /// The contact of the step, or of its linearisation, was not solved (StepStatus::approximate_contact).
  contact_unsolved,
};
inline constexpr int kNumGradientQualities = 8;

[[nodiscard]] std::string_view to_string(GradientQuality quality);

[[nodiscard]] constexpr GradientQuality worst(GradientQuality a, GradientQuality b) { return std::max(a, b); }

}  // namespace tangere
