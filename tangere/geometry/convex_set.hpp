#pragma once

/// A convex set as the queries see it: constant conic rows in the shape's own frame. The pose enters only through
/// p = Rᵀ (x - r), so no shape and no pair needs derivative code of its own.
///
///   p in alpha S  ⇔  there is y with  s = S_u (p, alpha) + S_y y + s_0  in  R₊ᵐ × Q₄ × … × Q₄

#include <memory>
#include <vector>

#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/support_terms.hpp"
#include "tangere/math/conic_rows.hpp"
#include "tangere/math/types.hpp"

namespace tangere {

/// One entry of d(rows)/d(parameter): ∂ matrix(row, column) / ∂ parameter = value. All other entries are zero.
struct RowDerivative {
  int parameter;
  int row;
  int column;
  double value;
};

struct ConvexSet {
  /// False for a half-space, which does not grow with alpha.
  bool scaled = true;
  /// Radius of a ball about the origin that contains the set (infinite for a half-space), and of one inside it.
  double outer_radius = 0.0;
  double inner_radius = 0.0;
  /// The rows, each scaled so that its slack is a length of the order of the shape (a positive factor changes neither
  /// the set nor the central path).
  ConicRows rows;
  /// How the rows change with the shape's parameters, the row factors held constant.
  std::vector<RowDerivative> derivatives;
  int num_parameters = 0;
  /// y = aux_start (p, alpha) is feasible whenever |p| ≤ alpha inner_radius, strictly if less: num_aux x 4. `Shape`
  /// makes it that of the rows.
  MatrixX4 aux_start;
  /// The rows with y = aux_start (p, alpha) put in: no auxiliaries left. Set by `Shape` from the two above.
  ConicRows start_rows;
  /// Vertices and faces of a polytope or of a rounded polytope's core. For a padded polygon its corners (z = 0),
  /// counter-clockwise, without faces. Empty for all others.
  Hull core;
  /// The support function. Set by `Shape`.
  std::shared_ptr<const SupportTerms> support;
};

}  // namespace tangere
