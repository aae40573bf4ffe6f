#pragma once

/// The rows of a large island as solvers/lcp/sparse_rows.hpp wants them: coordinates by trees, cut into nodes of six
/// (not installed).

#include <span>
#include <vector>

#include "tangere/contact/hard/problem.hpp"
#include "tangere/math/aligned.hpp"
#include "tangere/math/scratch_matrix.hpp"
#include "tangere/solvers/lcp/sparse_rows.hpp"

namespace tangere {

class SparseIsland {
 public:
  explicit SparseIsland(const Model& model);

  /// M⁻¹ of every tree, by the factors in `data`. Once a step, before the islands.
  void invert_masses(const Model& model, const Data& data);
  /// The rows of an island.
  const SparseRows& build(const Model& model, const Data& data, const ContactProblem& problem,
                          std::span<const int> rows);
  /// v += M⁻¹ Jᵀ f, f one a row of the island.
  void add_velocities(VectorArgument f, VectorX& v);

 private:
  struct Tree {
    std::vector<int> dofs;
    /// The tree's first node in the current island; -1 if the tree is not part of it.
    int first_node = -1;
    [[nodiscard]] int num_nodes() const { return (static_cast<int>(dofs.size()) + 5) / 6; }
  };
  /// That a row moves; until the next call.
  std::span<const int> trees_of(const Model& model, const ContactProblem& problem, const Row& row);
  void add_tree(int index);
  void add_mass(const MatrixX& M, const VectorX& added, const Tree& tree);
  void add_row(const double* J_row, std::span<const int> trees);

  std::vector<Tree> trees_;
  /// By coordinate.
  std::vector<int> tree_of_dof_;
  /// By coordinate, the row of its tree's M⁻¹.
  ScratchMatrix inverse_;
  Eigen::Index largest_ = 0;
  std::vector<int> trees_of_island_;
  std::vector<int> trees_of_row_;
  SparseRows rows_;
  AlignedVector velocity_;
};

}  // namespace tangere
