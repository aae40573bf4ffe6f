#pragma once

/// Wrong parts of a model: what is wrong is in fields, so that a reader of files can say where it stands.

#include <string>
#include <utility>

#include "tangere/math/error.hpp"

namespace tangere {

/// `field()` is `<name>.<quantity>` (`torso.mass`), or the name alone.
class ModelError : public InputError {
 public:
  enum class Part { body, joint };

  ModelError(Part part, std::string name, std::string quantity, std::string reason)
      : InputError(quantity.empty() ? name : name + "." + quantity, std::move(reason)),
        part_(part),
        name_(std::move(name)),
        quantity_(std::move(quantity)) {}

  [[nodiscard]] Part part() const { return part_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// `mass`, `limits`, `hull.friction`, …; empty where it is about the part as a whole.
  [[nodiscard]] const std::string& quantity() const { return quantity_; }

 private:
  Part part_;
  std::string name_;
  std::string quantity_;
};

}  // namespace tangere
