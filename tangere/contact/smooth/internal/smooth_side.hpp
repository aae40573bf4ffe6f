#pragma once

/// One convex set of a pair of the single-level problem: its conic rows at (p, α, y), linearised and reduced to a
/// 4 x 4 matrix (private to contact).
///
///   s = S_p p + S_α α + S_y y + s_0,   f = R S_pᵀ z,   a = S_αᵀ z,   S_yᵀ z = 0,   p = Rᵀ (x − r)
///
/// With Θ = arrow(s)⁻¹ arrow(z), Newton's equations of the rows give
///
///   d(f, a) = g − H (dx − δ, dα) + (dθ × f, 0),   H = Sᵀ Θ S with y eliminated, in world axes
///
/// for a set that moves by the twist (δ, dθ) about x. Lengths are in units of the pair: rows that are lengths are
/// divided by l.
///
/// A pull e on the contact point, f = R (S_pᵀ z − e) with e fixed in the set, makes the collision α + e · p → min:
/// where many points touch, x is the one farthest against e. α is then what it is without (for faces), or a little more
/// (of the order of e², for what is curved), so that further points of a pair never act before its first.

#include <array>
#include <vector>

#include "tangere/geometry/convex_set.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

/// The larger of two norms; NaN if either is, which std::max may drop.
[[nodiscard]] inline double larger_norm(double a, double b) { return b > a || b != b ? b : a; }

/// Numbers of a problem, by row (z, s and theirs) and by auxiliary variable.
struct SideNumbers {
  double* z = nullptr;
  double* s = nullptr;
  /// s − (its rows).
  double* r_s = nullptr;
  double* y = nullptr;
  /// S_yᵀ z.
  double* r_y = nullptr;
  /// y₀ of the last `forces`.
  double* y_0 = nullptr;
  /// Factors of S_yᵀ Θ S_y and the blocks beside it: `num_scratch` numbers.
  double* scratch = nullptr;
};

class SmoothSide {
 public:
  [[nodiscard]] static int num_scratch(const ConicRowsView& rows) { return rows.num_aux * (rows.num_aux + 8); }
  [[nodiscard]] static int num_rows(const ConicRowsView& rows) { return rows.num_orthant + 4 * rows.num_cones; }

  void set(const ConvexSet& shape, double inverse_length, const Vector3& pull = Vector3::Zero());
  void bind(const SideNumbers& numbers) { at_ = numbers; }

  [[nodiscard]] const ConvexSet& shape() const { return *shape_; }
  [[nodiscard]] const ConicRowsView& rows() const { return rows_; }
  [[nodiscard]] const SideNumbers& numbers() const { return at_; }
  [[nodiscard]] const Vector3& pull() const { return pull_; }

  /// The start: y and s at (x, α), pushed into the cones; z = ν s⁻¹.
  void start(const Vector3& x, double alpha, double nu);
  /// The seeded all-ones start: z = s = e, tilted so that f points along `towards`.
  void start_at_ones(const Vector3& x, double alpha, const Vector3& towards);

  /// Residuals at (x, α), f and a; answers with the largest residual.
  double evaluate(const Vector3& x, double alpha);
  /// H. False if the block of y is singular.
  bool factor();
  /// g for complementarity residuals r (as long as z).
  void forces(const double* r, Vector4& g);
  /// The change of (f, a) as a parameter of the shape moves, poses and variables held but for what `forces` eliminates.
  /// Overwrites the residuals.
  [[nodiscard]] Vector4 parameter_forces(int parameter);
  /// dz and ds for dx − δ (world axes) and dα.
  void recover(const double* r, const Vector3& dx, double dalpha, double* dz, double* ds, double* dy) const;

  /// At the end of the step, position from the pair's origin in units of l.
  Pose X;
  Vector3 f = Vector3::Zero();
  double a = 0.0;
  Matrix4 H = Matrix4::Zero();

 private:
  /// (p, α) with α in the unit that the rows have: their numbers are metres.
  void rows_at(const Vector4& u, const double* y, double* out) const;
  void add_transposed(const double* z, Vector4& u, double* y) const;

  const ConvexSet* shape_ = nullptr;
  ConicRowsView rows_;
  double inverse_length_ = 1.0;
  Vector3 pull_ = Vector3::Zero();
  SideNumbers at_;
  Vector4 u_ = Vector4::Zero();
  std::array<int, kMaxAux> pivots_{};
  std::vector<double> parameter_zero_;
};

}  // namespace tangere
