#pragma once

/// The support function of a convex set, taken apart: the set is a sum of few simple terms and a ball,
///
///   S = center ⊕ R₁ T₁ ⊕ R₂ T₂ ⊕ … ⊕ ball(radius),     h_S(n) = center·n + Σ h_Tₖ(Rₖᵀ n) + radius |n|
///
/// so that a query over supports knows five kinds of terms, not twelve shapes. A box, polytope, cylinder, cone or
/// ellipsoid is one term, a capsule or a rounded polytope one term and the ball, a sphere the ball alone; Minkowski
/// sums have the terms of their parts.
///
/// All numbers of a set lie in one block: a query that comes upon a pair for the first time waits for memory a good
/// part of its time. Shapes of one term have a copy of all but vertices and axes with them (`NearSupportTerms`), so
/// that of most pairs nothing has to be looked for elsewhere.

#include <cstddef>
#include <memory>
#include <vector>

#include "tangere/math/types.hpp"

namespace tangere {

struct ConvexSet;

struct SupportTerm {
  enum class Kind : int {
    /// x from -size[0] to size[0].
    segment,
    /// |x_i| ≤ size[i].
    box,
    /// The hull of `vertices`.
    vertices,
    /// The hull of two discs about the x axis, at x = size[0] and size[1] with radii size[2] and size[3]: a cylinder,
    /// or a cone (one radius zero).
    discs,
    /// Semi-axes `size`.
    ellipsoid,
  };
  Kind kind;
  /// R is not the identity.
  bool turned;
  int num_vertices;
  /// The last vertex is repeated up to a multiple of kVertexPadding.
  int padded_vertices;
  /// By coordinates: all x, all y, all z.
  const double* vertices;
  double size[4];
  /// The term's axes in the set's frame.
  const Matrix3* axes;

  static constexpr int kVertexPadding = 8;

  [[nodiscard]] const Matrix3& R() const { return *axes; }
  /// A hull of finitely many points.
  [[nodiscard]] bool is_polytope() const { return kind <= Kind::vertices; }
};

struct SupportTerms {
  Vector3 center;
  double radius;
  /// Radii of the largest known ball about the origin inside the set, and of one around it.
  double inner_radius;
  double outer_radius;
  /// The set this is the support function of.
  const ConvexSet* set;
  short num_terms;
  /// Terms that are not polytopes, and those of them that are ellipsoids.
  short num_curved;
  short num_ellipsoids;
  /// A half-space: `center` is its unit outward normal, `radius` its offset; no terms.
  bool half_space;

  [[nodiscard]] const SupportTerm* terms() const { return reinterpret_cast<const SupportTerm*>(this + 1); }
};

/// A sum of one term at most, to keep beside the shape: its vertices and axes are those of the block.
struct NearSupportTerms {
  SupportTerms sum;
  SupportTerm term;
};
// a cache line each, and `terms()` of the sum is the term
static_assert(sizeof(SupportTerms) == 64 && sizeof(SupportTerm) == 64);
static_assert(offsetof(NearSupportTerms, term) == sizeof(SupportTerms));

/// The parts that a block is made from.
struct SupportSum {
  struct Term {
    SupportTerm::Kind kind;
    double size[4] = {0.0, 0.0, 0.0, 0.0};
    Matrix3 R = Matrix3::Identity();
    MatrixX3 vertices = {};
  };
  std::vector<Term> terms;
  Vector3 center = Vector3::Zero();
  double radius = 0.0;
  bool half_space = false;
};

[[nodiscard]] std::shared_ptr<const SupportTerms> make_support_terms(const SupportSum& sum, const ConvexSet& set);

}  // namespace tangere
