#pragma once

/// Memory of the multibody algorithms for one model and one thread: everything that changes with the state. An
/// algorithm leaves its results here, and what it returns by reference stays valid until the next call that computes
/// the same thing. Nothing is allocated after construction.

#include "tangere/math/owned.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

class Data {
 public:
  explicit Data(const Model& model);
  ~Data();
  Data(Data&&) noexcept;
  Data& operator=(Data&&) noexcept;

  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }
  [[nodiscard]] const Memory& memory() const { return *memory_; }

 private:
  Owned<Memory> memory_;
};

/// Jacobians whose rows are forces or accelerations, row after row.
using RowMatrixX = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor | Eigen::DontAlign>;

/// A vector of the caller's, of whatever storage.
using VectorArgument = const Eigen::Ref<const VectorX>&;

}  // namespace tangere
