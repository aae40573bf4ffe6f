#pragma once

/// Sparse LU of a matrix of 6 x 6 blocks, for systems that couple neighbours only: bodies that touch, six coordinates
/// each. Private to the solvers and to contact.
///
///   lu.begin(nodes);  lu.connect(a, b);  …  lu.order();     once for a pattern (symmetric, the values need not be)
///   lu.clear();  lu.block(a, b)[8 * column + row] += …
///   if (lu.factor()) lu.solve(x);
///
/// Nodes are eliminated by least degree; pivots are chosen within the diagonal blocks only. That is stable for
/// symmetric positive definite matrices; for others the caller has to look at what is left over.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tangere/math/aligned.hpp"

namespace tangere {

class BlockLu {
 public:
  /// Rows and columns of a block, and the numbers from one of its columns to the next, which is also what a node takes
  /// in a vector: two of padding, always zero.
  static constexpr int kSize = 6;
  static constexpr int kStride = 8;

  /// Forgets the pattern: nothing is connected.
  void begin(int nodes);
  void connect(int a, int b);
  /// Chooses the order of elimination, and makes room for what it fills in.
  void order();
  [[nodiscard]] int num_nodes() const { return nodes_; }
  /// Off the diagonal, of both triangles, fill included.
  [[nodiscard]] int num_blocks() const { return static_cast<int>(neighbours_.size()) * 2; }

  /// All blocks zero.
  void clear();
  /// The block of two connected nodes, or of one; column after column.
  [[nodiscard]] double* block(int row, int column) {
    return values_.data() + static_cast<std::size_t>(index_[static_cast<std::size_t>(row) * stride() + column]) * kArea;
  }

  /// In place. False if a diagonal block is singular.
  [[nodiscard]] bool factor();
  /// Sign of the determinant of the factored matrix: 1 or -1; 0 if it is singular.
  [[nodiscard]] int determinant_sign() const { return determinant_sign_; }
  /// x: the right side, then the solution, kStride numbers a node.
  void solve(double* x) const;

 private:
  static constexpr int kArea = kSize * kStride;
  [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(nodes_); }
  [[nodiscard]] const double* block(int row, int column) const {
    return values_.data() + static_cast<std::size_t>(index_[static_cast<std::size_t>(row) * stride() + column]) * kArea;
  }
  /// The later neighbours of the k-th node that goes.
  [[nodiscard]] const int* first_neighbour(int k) const { return neighbours_.data() + first_[k]; }
  [[nodiscard]] const int* last_neighbour(int k) const {
    return neighbours_.data() + first_[static_cast<std::size_t>(k) + 1];
  }
  int least_degree() const;
  void eliminate(int node);

  int nodes_ = 0;
  /// A row of bits a node: whom it is connected with, among those that are left.
  int words_ = 0;
  std::vector<std::uint64_t> connected_;
  std::vector<int> degree_;
  /// Nodes as they go, and the neighbours each leaves behind, one after the other.
  std::vector<int> order_;
  std::vector<int> first_;
  std::vector<int> neighbours_;
  /// By row and column: which block; -1 for none.
  std::vector<int> index_;
  int blocks_ = 0;
  AlignedVector values_;
  int determinant_sign_ = 0;
};

}  // namespace tangere
