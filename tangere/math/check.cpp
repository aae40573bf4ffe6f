#include "tangere/math/check.hpp"

#include <cmath>
#include <cstdio>

namespace tangere::internal {

std::string to_text(double value) {
  if (value == 0.0) value = 0.0;  // no negative zero
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string to_text(const Eigen::Ref<const VectorX>& v) {
  const double tiny = 1e-9 * v.cwiseAbs().maxCoeff();
  std::string text = "(";
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    if (i > 0) text += ", ";
    text += to_text(std::abs(v[i]) < tiny ? 0.0 : v[i]);
  }
  return text + ")";
}

void require_positive(const std::string& field, double value) {
  if (!(value > 0.0) || !std::isfinite(value))
    throw InputError(field, "must be positive and finite, got " + to_text(value));
  if (value < kSmallestSize || value > kLargestSize)
    throw InputError(field, "must be between " + to_text(kSmallestSize) + " and " + to_text(kLargestSize) + ", got " +
                                to_text(value));
}

void require_finite(const std::string& field, double value) {
  if (!(std::abs(value) <= kLargestSize))
    throw InputError(field, "must be finite and at most 1e30 in size, got " + to_text(value));
}

void require_pose(const std::string& field, const Pose& X) {
  if (!(X.p.cwiseAbs().maxCoeff<Eigen::PropagateNaN>() <= kLargestSize))
    throw InputError(field + ".p", "must be finite and within 1e30 of the origin, got " + to_text(X.p));
  if (!X.R.allFinite()) throw InputError(field + ".R", "must be finite");
  const double error = (X.R.transpose() * X.R - Matrix3::Identity()).cwiseAbs().maxCoeff();
  if (error > 1e-9 || X.R.determinant() < 0.0)
    throw InputError(field + ".R", "must be a rotation, but |RᵀR - I| = " + to_text(error) +
                                       " and det R = " + to_text(X.R.determinant()));
}

}  // namespace tangere::internal
