#pragma once

/// Wrong input at a boundary (construct, build, load).

#include <stdexcept>
#include <string>
#include <utility>

namespace tangere {

/// Thrown for wrong input. `field()` names the quantity (`sphere.radius`), `reason()` says what is wrong
/// with it, with the value and the allowed range; `what()` is both.
class InputError : public std::invalid_argument {
 public:
  InputError(std::string field, std::string reason)
      : std::invalid_argument(field + ": " + reason), field_(std::move(field)), reason_(std::move(reason)) {}

  [[nodiscard]] const std::string& field() const { return field_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::string field_;
  std::string reason_;
};

}  // namespace tangere
