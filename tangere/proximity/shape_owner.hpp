#pragma once

/// Keeps the shapes that a query has looked at alive for its derivatives (private to proximity).

#include <memory>
#include <optional>

#include "tangere/geometry/shape.hpp"

namespace tangere {

class PairOwner {
 public:
  /// Nothing is counted while the same shapes are asked for again.
  void keep(const Shape& A, const Shape& B) {
    if (!on_) return;
    if (A.convex_set() == nullptr || B.convex_set() == nullptr) {
      // derivatives look at the lists of parts
      if (!shape_A_ || shape_A_->parts().data() != A.parts().data()) shape_A_ = A;
      if (!shape_B_ || shape_B_->parts().data() != B.parts().data()) shape_B_ = B;
      return;
    }
    if (set_A_.get() != A.convex_set()) set_A_ = A.parts().front().set;
    if (set_B_.get() != B.convex_set()) set_B_ = B.parts().front().set;
  }

  /// Off where shapes outlive the query anyway: counting owners takes time.
  void turn_off() {
    on_ = false;
    set_A_.reset();
    set_B_.reset();
    shape_A_.reset();
    shape_B_.reset();
  }

 private:
  bool on_ = true;
  // of convex shapes; they own the support terms
  std::shared_ptr<const ConvexSet> set_A_;
  std::shared_ptr<const ConvexSet> set_B_;
  // where one of them is a bundle
  std::optional<Shape> shape_A_;
  std::optional<Shape> shape_B_;
};

}  // namespace tangere
