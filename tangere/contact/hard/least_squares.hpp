#pragma once

/// Nimble's answer to rows that repeat each other: clamped impulses of least norm, by the pseudo-inverse, without
/// compliance (not installed).

#include <span>

#include "tangere/solvers/lcp/boxed_lcp.hpp"

namespace tangere {

/// A⁺; singular values below 1e-9 of the largest count as zero.
[[nodiscard]] MatrixX pseudo_inverse(const Eigen::Ref<const MatrixX>& A);

/// With the sets of a solution, the impulses of least norm that bring the clamped rows to rest, into `f` and `w`. False
/// if some would leave their bounds, or rows contradict each other: nothing is changed.
[[nodiscard]] bool least_squares_impulses(const Eigen::Ref<const MatrixX, 0, Eigen::OuterStride<>>& A,
                                          const Eigen::Ref<const VectorX>& b, std::span<const BoxedLcpRow> rows,
                                          std::span<const RowSet> sets, VectorX& f, VectorX& w);

}  // namespace tangere
