#pragma once

/// Squared-gap proximity (DiffPills): for two shapes that are a core padded by a ball,
///
///   φ = min |c_A - c_B|² - (R_A + R_B)²   over   c_A in core A, c_B in core B                   (DiffPills eq. 19, 20)
///
/// φ > 0 apart, = 0 touching, < 0 overlapping; in m². The cores, in the shape's own frame:
///
///   sphere (a point), capsule (a segment), padded polygon (a polygon), box and polytope (themselves, R = 0),
///   rounded polytope (its polytope)
///
/// A quadratic program in the core coordinates of both (none for a point, 1 for a segment, 2 for a polygon, 3 for a
/// solid), solved by solvers/qp_interior_point or, for two segments, solvers/qp_active_set. φ is smooth wherever the
/// cores do not cross, parallel cores included; where they cross it is the constant -(R_A + R_B)².
///
///   ProximityWorkspace workspace;
///   const Proximity result = proximity(A, X_WA, B, X_WB, {}, workspace);
///   if (result.phi < 0) …

#include <string_view>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/owned.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

enum class ProximityStatus {
  /// Solved to the tolerance.
  solved,
  /// Tolerance not reached within the iteration limit; the last point is returned with its gap.
  iteration_limit,
  /// Rounding stopped the iteration before the tolerance was reached; the last point is returned with its gap.
  numerical_limit,
};
[[nodiscard]] std::string_view to_string(ProximityStatus status);

enum class ProximityMethod {
  /// The active set where it is possible, else the interior point.
  automatic,
  interior_point,
  /// Points and segments only (spheres, capsules), without smoothing.
  active_set,
};

struct ProximityOptions {
  ProximityMethod method = ProximityMethod::automatic;
  /// The interior point stops when the duality gap is below tolerance / 2 times the squared core distance (for pairs
  /// far apart: times the distance and the size of the cores). A last step then takes most answers to rounding.
  double tolerance = 1e-10;
  int max_iterations = 60;
  /// Smoothing κ, relative: answer with the central-path point s ∘ z = κ ℓ² e of the quadratic program, a smooth
  /// function of poses and parameters, whose Jacobian exists everywhere. 0: the exact answer. From 1e-12 to 0.1.
  double smoothing = 0.0;
  /// ℓ of the line above; 0: the sum of the outer radii of the shapes. Derivatives in shape parameters hold it
  /// constant, so give it where shapes are changed.
  double smoothing_length = 0.0;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The answer. Points and directions are in world axes; the normal points from A to B.
struct Proximity {
  ProximityStatus status;
  double phi;
  /// |c_A - c_B|; 0 where the cores cross.
  double core_distance;
  /// The closest points of the cores.
  Vector3 c_A;
  Vector3 c_B;
  /// The points of the shapes themselves, c_A + R_A normal and c_B - R_B normal (DiffPills eq. 21, 22).
  Vector3 p_A;
  Vector3 p_B;
  /// (c_B - c_A) / core_distance. Where the cores cross: from A's origin to B's, and +x of the world if they coincide.
  Vector3 normal;
  /// The cores have a point in common (to 1e-12 of their sizes): φ = -(R_A + R_B)², and its pose gradient is zero.
  bool crossing;
  /// 0 where the closest points are unique; 1 or 2 where they may slide together along a line or in a plane (parallel
  /// cores), up to 3 where solid cores cross: central ones are then given. 0 with smoothing.
  int point_freedom;
  int iterations;
  /// Relative duality gap: the squared core distance is at most this fraction above the true value. 0 where a last
  /// step, or the active set, gave the solution itself.
  double gap;
};

/// Memory of the queries, to be reused: after the first query of the largest pair nothing is allocated. Holds the
/// solution of the last query for its derivatives. One per thread.
class ProximityWorkspace {
 public:
  ProximityWorkspace();
  ~ProximityWorkspace();
  ProximityWorkspace(ProximityWorkspace&&) noexcept;
  ProximityWorkspace& operator=(ProximityWorkspace&&) noexcept;

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }
  [[nodiscard]] const Data& data() const { return *data_; }

 private:
  Owned<Data> data_;
};

/// Whether a shape is a core and a padding.
[[nodiscard]] bool has_core(const Shape& shape);

/// The proximity of A at X_WA and B at X_WB. Throws InputError for shapes without a core (`A`, `B`), for poses that are
/// not finite, for wrong options, and for the active set where it cannot serve (`options.method`).
[[nodiscard]] Proximity proximity(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                  const ProximityOptions& options, ProximityWorkspace& workspace);

}  // namespace tangere
