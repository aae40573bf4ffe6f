#pragma once

/// Keeps the shapes that a query has looked at alive for its derivatives (private to proximity).

#include <memory>

#include "tangere/geometry/shape_use.hpp"

namespace tangere {

class PairOwner {
 public:
  /// The shapes of the last query stay until the next one.
  void keep(const Shape& A, const Shape& B) {
    if (use_ != nullptr) use_->name(A, B);
  }
  /// Off where shapes outlive the query anyway.
  void turn_off() { use_.reset(); }

 private:
  std::unique_ptr<internal::ShapeUse> use_ = std::make_unique<internal::ShapeUse>();
};

}  // namespace tangere
