#pragma once

/// Matrices and vectors of the inner loops whose size changes from step to step: they keep their memory when they
/// shrink. Rows after rows, padded to whole vector registers.

#include <algorithm>
#include <cstddef>

#include "tangere/math/aligned.hpp"
#include "tangere/math/types.hpp"

namespace tangere {

class ScratchMatrix {
 public:
  using Storage = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor | Eigen::DontAlign>;
  using View = Eigen::Map<Storage, 0, Eigen::OuterStride<>>;
  using ConstView = Eigen::Map<const Storage, 0, Eigen::OuterStride<>>;

  /// All zero, the padding too. Without rows it still has the memory of one, for its columns to be somewhere.
  View reset(Eigen::Index rows, Eigen::Index cols) {
    rows_ = rows;
    cols_ = cols;
    width_ = (cols + 7) / 8 * 8;
    data_.assign(static_cast<std::size_t>(std::max<Eigen::Index>(rows_, 1) * width_), 0.0);
    return view();
  }
  [[nodiscard]] View view() { return {data_.data(), rows_, cols_, Eigen::OuterStride<>(width_)}; }
  [[nodiscard]] ConstView view() const { return {data_.data(), rows_, cols_, Eigen::OuterStride<>(width_)}; }
  [[nodiscard]] double* row(Eigen::Index i) { return data_.data() + i * width_; }
  [[nodiscard]] const double* row(Eigen::Index i) const { return data_.data() + i * width_; }
  [[nodiscard]] Eigen::Index rows() const { return rows_; }
  [[nodiscard]] Eigen::Index cols() const { return cols_; }
  /// Numbers from one row to the next.
  [[nodiscard]] std::ptrdiff_t width() const { return width_; }

 private:
  AlignedVector data_;
  Eigen::Index rows_ = 0;
  Eigen::Index cols_ = 0;
  Eigen::Index width_ = 0;
};

/// A vector likewise.
class ScratchVector {
 public:
  using View = Eigen::Map<VectorX>;
  using ConstView = Eigen::Map<const VectorX>;

  /// All zero.
  View reset(Eigen::Index size) {
    data_.assign(static_cast<std::size_t>(size), 0.0);
    return view();
  }
  [[nodiscard]] View view() { return {data_.data(), size()}; }
  [[nodiscard]] ConstView view() const { return {data_.data(), size()}; }
  [[nodiscard]] double operator[](Eigen::Index i) const { return data_[i]; }
  [[nodiscard]] double& operator[](Eigen::Index i) { return data_[i]; }
  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(data_.size()); }

 private:
  AlignedVector data_;
};

}  // namespace tangere
