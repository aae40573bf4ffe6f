#pragma once

/// Products of matrices whose rounding does not depend on where they lie: each entry is one sum, from its first term to
/// its last. Eigen's own of dynamic sizes begin where memory is aligned. For what is made once, as shapes are.

#include "tangere/math/types.hpp"

namespace tangere {

template <class A, class B>
[[nodiscard]] MatrixX entry_product(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  MatrixX out = MatrixX::Zero(a.rows(), b.cols());
  for (Eigen::Index j = 0; j < b.cols(); ++j)
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      for (Eigen::Index k = 0; k < a.cols(); ++k) out(i, j) += a(i, k) * b(k, j);
  return out;
}

}  // namespace tangere
