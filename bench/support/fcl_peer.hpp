#pragma once

/// FCL 0.7 as a peer, on the same shapes and poses. Its headers stay in the source file.
///
/// FCL's types hold fixed-size Eigen matrices, so their layout follows Eigen's alignment: this works because the
/// library holds that at 16 bytes for everyone (EIGEN_MAX_ALIGN_BYTES), which is what Debian's FCL was built with.

#include <cstddef>
#include <memory>
#include <optional>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/se3.hpp"

namespace tangere::bench {

class FclPeer {
 public:
  FclPeer();
  ~FclPeer();
  FclPeer(const FclPeer&) = delete;
  FclPeer& operator=(const FclPeer&) = delete;

  /// Stores a pair and answers with its index; nothing if FCL does not have one of the shapes (padded polygon, sums,
  /// …).
  std::optional<std::size_t> add(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB);

  /// fcl::distance with its default tolerance (1e-6) and without nearest points: -1 for overlapping shapes.
  [[nodiscard]] double distance(std::size_t pair) const;
  /// The same with enable_signed_distance: minus the penetration depth for overlapping shapes. NaN where FCL throws.
  [[nodiscard]] double signed_distance(std::size_t pair) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere::bench
