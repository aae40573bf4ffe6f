#pragma once

/// A copy of a shape that is gone before its original: what still looks at it then sees no shape.

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "tangere/geometry/shape.hpp"

namespace tangere::test {

/// Its memory is overwritten when it goes.
class PassingCopy {
 public:
  explicit PassingCopy(const Shape& shape) : shape_(new (memory_) Shape(shape)) {}
  PassingCopy(const PassingCopy&) = delete;
  PassingCopy& operator=(const PassingCopy&) = delete;
  ~PassingCopy() {
    std::destroy_at(shape_);
    std::memset(memory_, 0xff, sizeof(memory_));
    keep_writes(memory_);
  }
  [[nodiscard]] const Shape& shape() const { return *shape_; }

 private:
  static void keep_writes(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }
  alignas(Shape) std::byte memory_[sizeof(Shape)];
  Shape* shape_;
};

}  // namespace tangere::test
