#pragma once

/// The fixture of the laws over all models: one of them, at a random state.

#include <gtest/gtest.h>

#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/data.hpp"
#include "tests/support/all_models.hpp"

namespace tangere::test {

class ModelState : public testing::TestWithParam<NamedModel> {
 protected:
  explicit ModelState(std::uint64_t seed) : random(seed) {}

  const Model& model = GetParam().model;
  Random random;
  Data data{model};
  VectorX q = random_configuration(model, random);
  VectorX v = random_vector(model.nv(), random);
  VectorX a = random_vector(model.nv(), random);

  /// q, moved by delta.
  [[nodiscard]] VectorX moved(const VectorX& delta) const {
    VectorX out(model.nq());
    integrate(model, q, delta, out);
    return out;
  }
};

}  // namespace tangere::test
