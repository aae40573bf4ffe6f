#pragma once

/// Memory for the state of one block (not installed).

#include <cstddef>
#include <vector>

#include "tangere/math/aligned.hpp"
#include "tangere/solvers/conic/internal/conic_block.hpp"

namespace tangere {

template <int C>
class BlockStorage {
 public:
  /// Grows the memory if the rows need more than any before.
  void reserve(const ConicRowsView& rows) {
    const std::size_t state = 8 * static_cast<std::size_t>(rows.padded_orthant) + 4 * padded(rows.num_aux) +
                              padded(rows.num_aux * rows.num_aux);
    if (state_.size() < state) state_.resize(state);
    if (cones_.size() < static_cast<std::size_t>(rows.num_cones))
      cones_.resize(static_cast<std::size_t>(rows.num_cones));
    if (coupling_.size() < static_cast<std::size_t>(rows.num_aux))
      coupling_.resize(static_cast<std::size_t>(rows.num_aux));
  }
  /// Points the block at the memory.
  void bind(const ConicRowsView& rows, ConicBlock<C>& block) {
    block.rows = rows;
    double* next = state_.data();
    const auto take = [&next](std::size_t n) {
      double* const array = next;
      next += n;
      return array;
    };
    const auto mp = static_cast<std::size_t>(rows.padded_orthant);
    block.s = take(mp);
    block.z = take(mp);
    block.ds = take(mp);
    block.dz = take(mp);
    block.g = take(mp);
    block.weight = take(mp);
    block.inverse_sz = take(mp);
    block.residual = take(mp);
    const std::size_t ny = padded(rows.num_aux);
    block.y = take(ny);
    block.dy = take(ny);
    block.rhs = take(ny);
    block.pivot = take(ny);
    block.factor = next;
    block.cones = cones_.data();
    block.coupling = coupling_.data();
  }

 private:
  static std::size_t padded(int n) { return static_cast<std::size_t>((n + 3) / 4 * 4); }

  AlignedVector state_;
  std::vector<ConeState<C>, AlignedAllocator<ConeState<C>>> cones_;
  std::vector<Vec4, AlignedAllocator<Vec4>> coupling_;
};

}  // namespace tangere
