#pragma once

/// A = J M⁻¹ Jᵀ by its parts, for problems in which a row moves few of many bodies.
///
/// Coordinates are cut into nodes of up to six (a free body is one node, an arm of seven joints two), eight numbers
/// each in vectors and matrices, the rest zero. A row consists of pieces, one for every node that it moves or that M
/// couples with one that it moves.

#include <cstddef>
#include <vector>

#include "tangere/math/aligned.hpp"

namespace tangere {

struct SparseRows {
  /// Numbers a node in vectors, and from one column of a block to the next.
  static constexpr int kStride = 8;
  static constexpr int kBlock = 6 * kStride;

  struct MassBlock {
    int row;
    int column;
  };

  int num_nodes = 0;
  /// The pieces of row i are first[i] … first[i + 1] - 1; the node of each.
  std::vector<int> first{0};
  std::vector<int> node;
  /// J, and M⁻¹ Jᵀ: kStride numbers a piece.
  AlignedVector J;
  AlignedVector Z;
  /// M, block by block: kBlock numbers each, column after column. One on the diagonal where a node has no coordinate.
  std::vector<MassBlock> mass_blocks;
  AlignedVector M;

  [[nodiscard]] int num_rows() const { return static_cast<int>(first.size()) - 1; }
  [[nodiscard]] std::size_t vector_size() const { return static_cast<std::size_t>(num_nodes) * kStride; }
  void clear();

  /// x += f_i j_iᵀ and x += f_i M⁻¹ j_iᵀ.
  void add_wrench(int i, double f, double* x) const { add(J.data(), i, f, x); }
  void add_velocity(int i, double f, double* x) const { add(Z.data(), i, f, x); }
  /// j_i x.
  [[nodiscard]] double along(int i, const double* x) const;
  /// j_i M⁻¹ j_iᵀ.
  [[nodiscard]] double diagonal(int i) const;

 private:
  void add(const double* pieces, int i, double f, double* x) const;
};

}  // namespace tangere
