#pragma once

/// First steps of every pair query (private to proximity): check the poses, prefetch the shapes' memory.

#include <cmath>
#include <string>

#include "tangere/geometry/support_terms.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

/// Within 1e30 of the origin.
inline bool is_near(const Vector3& p) {
  constexpr double kFarthest = 1e30;
  return std::abs(p[0]) <= kFarthest && std::abs(p[1]) <= kFarthest && std::abs(p[2]) <= kFarthest;
}
inline bool is_rotation(const Matrix3& R) {
  constexpr double kTolerance = 1e-6;
  // singular values whose squares add up to 3 and whose product is 1 are all 1
  return std::abs(R.squaredNorm() - 3.0) <= kTolerance && std::abs(R.determinant() - 1.0) <= kTolerance;
}

/// Throws InputError unless X is a rigid motion within 1e30 of the origin.
inline void require_pose(const Pose& X, const char* name) {
  if (!is_near(X.p)) throw InputError(std::string(name) + ".p", "must be finite and within 1e30 of the origin");
  if (!is_rotation(X.R)) throw InputError(std::string(name) + ".R", "must be a rotation matrix");
}

/// A first query of a pair waits for memory a good part of its time: ask for all of it at once.
inline void prefetch_bytes(const void* from, int bytes) {
  constexpr int kLine = 64;
  for (int i = 0; i < bytes; i += kLine) __builtin_prefetch(static_cast<const char*>(from) + i);
}
/// An object, which may begin anywhere in its first line.
template <class T>
inline void prefetch_object(const T& object) {
  prefetch_bytes(&object, static_cast<int>(sizeof(T)));
  __builtin_prefetch(reinterpret_cast<const char*>(&object + 1) - 1);
}
inline void prefetch_lines(const void* from) {
  constexpr int kBytes = 12 * 64;
  prefetch_bytes(from, kBytes);
}
inline void prefetch(const SupportTerms* terms) {
  if (terms != nullptr) prefetch_lines(terms);
}
/// Prefetches the part of `near_support_terms` that is not stored with the shape.
inline void prefetch_far(const SupportTerms* near, const SupportTerms* block) {
  if (near == block) {
    prefetch(block);
  } else if (near->num_terms > 0) {
    const SupportTerm& term = *near->terms();
    if (term.kind == SupportTerm::Kind::vertices) prefetch_lines(term.vertices);
    if (term.turned) prefetch_object(*term.axes);
  }
}

}  // namespace tangere
