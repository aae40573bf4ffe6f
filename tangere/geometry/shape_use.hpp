#pragma once

/// Shapes that may be needed after their last copy is gone: a workspace that has answered a query names them, and they
/// stay until it names others (hazard pointers).
///
/// Naming a shape is one store into memory that the workspace has anyway. Counting another owner instead would write to
/// memory that is cold where a pair is met for the first time: a sixth of the time of a query. A shape looks at the
/// names when it ends, which is rare.

#include <array>
#include <atomic>
#include <memory>

#include "tangere/geometry/shape.hpp"

namespace tangere::internal {

class ShapeUse {
 public:
  ShapeUse();
  ~ShapeUse();
  ShapeUse(const ShapeUse&) = delete;
  ShapeUse& operator=(const ShapeUse&) = delete;

  /// Both exist during the call, and afterwards stay until the next one.
  void name(const Shape& A, const Shape& B) {
    named_[0].store(key(A), std::memory_order_release);
    named_[1].store(key(B), std::memory_order_release);
  }
  [[nodiscard]] bool names(const void* key) const {
    return named_[0].load(std::memory_order_acquire) == key || named_[1].load(std::memory_order_acquire) == key;
  }
  /// Address of the memory that copies of a shape share: their specification comes first in it.
  [[nodiscard]] static const void* key(const Shape& shape) { return &shape.spec(); }

 private:
  std::array<std::atomic<const void*>, 2> named_{};
};

/// Memory that copies of a shape share, when the last of them is gone.
using ShapeMemory = std::unique_ptr<const void, void (*)(const void*)>;
/// Ends it now, or when no workspace names it any more.
void end_shape(const void* key, ShapeMemory memory);

}  // namespace tangere::internal
