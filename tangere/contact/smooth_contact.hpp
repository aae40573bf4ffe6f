#pragma once

/// Smooth contact: collision and contact at the end of the step as one relaxed problem (smooth/single_level.hpp), or on
/// top of a collision query at every iterate (smooth/internal/bilevel.hpp). Options that are its own, and its report.

#include <array>
#include <cstddef>
#include <string_view>

namespace tangere {

/// One second-order cone for all friction, or a box: |β_k| ≤ friction γ for each direction.
/// The axes of the box are those of a set (smooth_pair.hpp).
enum class FrictionShape { cone, pyramid };

struct SmoothContact {
  /// The relaxation, relative: γ (α − 1) = κ m c with the mass m and the length l of the smaller body and the speed
  /// c = min(√(g l), 100 g dt). What lies still hovers by κ √(l / g) / dt of its size, at most 100 κ.
  double kappa = 1e-6;
  /// Contact acts at α − 1 − d κ, d the number of cones of the pair's collision: pairs do not penetrate. Without
  /// (the paper's form) bodies at rest overlap by a few κ of their size.
  bool shift = true;
  /// Contact and joint limits give way by ε times their impulse (units): s_γ = α − 1 − d κ + ε γ, ε being this part of
  /// κ c dt / l, at most of κ. So there is an answer also where there is no room for all of them (what fits exactly
  /// between two walls, a joint with equal limits), with bounded impulses. Impulses up to √(κ / ε) units make no
  /// penetration by it, larger ones at most ε γ.
  double compliance = 0.01;
  /// Norms of a solution, as a part of κ.
  double tolerance = 0.1;
  /// Most iterations of the warm and of the cold start; the central path may take 50 times, other starts 4 times as
  /// many.
  int max_iterations = 30;
  /// Steps start from the last one's contact. Where that fails, and without, from the geometry.
  bool warm_start = true;
  FrictionShape friction = FrictionShape::cone;
  /// Contact points of a pair: one, as in the paper, and up to four more, which lie towards the corners of what touches
  /// where that is a face or a line (smooth_side.hpp). Pairs with a ball or an ellipsoid have one.
  int points = 1;
  /// Radius of the torsional friction as a part of the smaller body's reach, where both shapes have flat faces.
  /// ContactOptions::torsional_friction, if positive, is the radius in metres for all pairs instead.
  double torsion = 0.2;
  /// Pairs exist from this distance on, and farther as far as bodies may come nearer within a step: half of it as a
  /// part of the reach of either body; what is fixed adds nothing. Beyond, derivatives are exactly those without
  /// contact. Where a pair begins to exist, the step jumps by the order of κ / margin.
  double margin = 0.1;
  /// Pairs exist from this distance between two shapes on at least, metres: gradients that are to see a floor or
  /// another body from afar (with a κ, or `gradient_kappa`, of 1e-3 or more to be worth seeing). 0: by `margin` alone.
  double sight_distance = 0.0;
  /// A step that cannot be solved is halved, and halved again, down to this part of it; 1: never. So is one in which
  /// contact gives energy to free bodies that turn far within it.
  double smallest_part = 0.125;
  /// Derivatives are those of the step at this relaxation instead, solved on from the contact of the step (0: at
  /// kappa): gradients that see contact from farther away, of motions that are as stiff as ever.
  double gradient_kappa = 0.0;
  /// Newton steps beyond the tolerance before derivatives are taken; fewer if norms are below 1e-6 κ before.
  int num_refinements = 2;

  /// Throws InputError naming the first field out of range.
  void verify() const;
  bool operator==(const SmoothContact&) const = default;
};

/// The name of 0.1.0.
using SmoothOptions = SmoothContact;

/// How a step's islands were solved: which start led to a solution.
enum class SmoothRung {
  warm,
  /// From the geometry.
  cold,
  /// Along the central path from far, around its turns.
  path,
  /// From the old velocity, with shorter steps.
  old_velocity,
  /// From free flight, normals held in the matrix.
  free_flight,
  /// From all ones, tilted towards the other body.
  ones,
  /// In two half steps.
  half_steps,
};
inline constexpr std::size_t kNumSmoothRungs = 7;
[[nodiscard]] std::string_view to_string(SmoothRung rung);

/// Counts of islands.
struct SmoothStatistics {
  std::array<int, kNumSmoothRungs> rungs{};
  /// Not solved to the tolerance by any.
  int failures = 0;
  /// Iterations of the starts that led to a solution: their sum, and those of the slowest island.
  int iterations = 0;
  int max_iterations = 0;
};

}  // namespace tangere
