#pragma once

/// The project's own generator (xoshiro256++, seeded by splitmix64): the same numbers on every platform and
/// standard library, unlike the distributions of <random>.

#include <cstdint>

#include "tangere/math/se3.hpp"

namespace tangere {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  [[nodiscard]] std::uint64_t next();
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform();
  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// exp of a uniform draw between log(low) and log(high).
  [[nodiscard]] double log_uniform(double low, double high);
  /// Uniform in {0, …, n - 1}.
  [[nodiscard]] int index(int n);
  /// Standard normal (polar method).
  [[nodiscard]] double normal();
  [[nodiscard]] Vector3 normal3();
  [[nodiscard]] Vector3 unit_vector();
  /// Uniform over SO(3).
  [[nodiscard]] Matrix3 rotation();

 private:
  std::uint64_t state_[4];
};

}  // namespace tangere
