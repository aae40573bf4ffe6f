#pragma once

/// Memory that its owner alone sees: a unique_ptr that says so when its owner was moved from, where a bare one would be
/// undefined behaviour.

#include <memory>
#include <string>
#include <utility>

#include "tangere/math/error.hpp"

namespace tangere {

template <class T>
class Owned {
 public:
  /// `owner` names the owner in errors, and must live as long as the program.
  Owned(const char* owner, std::unique_ptr<T> value) : value_(std::move(value)), owner_(owner) {}

  /// InputError where the owner was moved from.
  [[nodiscard]] T& operator*() const {
    if (!value_) fail();
    return *value_;
  }
  [[nodiscard]] T* operator->() const { return &**this; }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] void fail() const {
    throw InputError(owner_, "was moved from: assign to it, or use what it was moved to");
  }

  std::unique_ptr<T> value_;
  const char* owner_;
};

}  // namespace tangere
