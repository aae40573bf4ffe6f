#pragma once

/// The cone program of a pair of convex sets (not installed): DCOL's problem (9) in the frame of A, in units in
/// which nothing depends on where the pair is or how large.
///
///   minimise alpha   over x (3), alpha, y_A, y_B,     rows of A at p = x,   rows of B at p = Rᵀ (x - d)
///
/// with R = R_AB and d = p_AB. The rows of A are read where the shape keeps them; those of B are turned into the frame
/// of A once per query.

#include "tangere/geometry/convex_set.hpp"
#include "tangere/math/aligned.hpp"
#include "tangere/math/se3.hpp"
#include "tangere/solvers/conic/conic_engine.hpp"
#include "tangere/solvers/conic/conic_storage.hpp"

namespace tangere {

/// Rows seen from another frame: S_u' u = S_p Rᵀ (x - d) + S_alpha alpha.
class TurnedRows {
 public:
  /// Grows the memory if the rows need more than any before.
  void reserve(const ConicRowsView& rows);
  [[nodiscard]] ConicRowsView turn(const ConicRowsView& rows, const Matrix3& R, const Vector3& d);

 private:
  AlignedVector memory_;
};

struct PairProgram {
  ConicEngine<1> engine;
  BlockStorage<1> storage[2];
  TurnedRows turned;
  Pose X_AB;

  /// Memory for a pair; must come before `set_up`.
  void reserve(const ConvexSet& A, const ConvexSet& B);
  /// Lays out the program and its start on the centre line. False if alpha = 0 without solving: coincident centres, or
  /// a centre in the half-space.
  bool set_up(const ConvexSet& A, const ConvexSet& B, const Pose& X);
};

/// The smallest alpha for which (p, alpha, y = aux_start (p, alpha)) satisfies the rows: an upper bound of the gauge of
/// the set.
[[nodiscard]] double start_gauge(const ConvexSet& set, const Vector3& p);

}  // namespace tangere
