#include "tangere/contact/hard/sparse_island.hpp"

#include <algorithm>

#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {
namespace {

constexpr int kSize = 6;
constexpr int kStride = SparseRows::kStride;

}  // namespace

SparseIsland::SparseIsland(const Model& model) {
  tree_of_dof_.assign(static_cast<std::size_t>(model.nv()), -1);
  std::vector<int> tree_of_root(static_cast<std::size_t>(model.nv()), -1);
  for (int b = 0; b < model.num_bodies(); ++b) {
    for (const int k : way_of(model, b)) {
      int& tree = tree_of_root[way_of(model, b).front()];
      if (tree < 0) {
        tree = static_cast<int>(trees_.size());
        trees_.emplace_back();
      }
      if (tree_of_dof_[k] >= 0) continue;
      tree_of_dof_[k] = tree;
      trees_[tree].dofs.push_back(k);
    }
  }
  for (const Tree& tree : trees_) largest_ = std::max(largest_, static_cast<Eigen::Index>(tree.dofs.size()));
}

void SparseIsland::invert_masses(const Model& model, const Data& data) {
  // trees do not see each other: one set of right sides serves all
  ScratchMatrix::View X = inverse_.reset(model.nv(), largest_);
  for (const Tree& tree : trees_)
    for (std::size_t a = 0; a < tree.dofs.size(); ++a) X(tree.dofs[a], static_cast<Eigen::Index>(a)) = 1.0;
  solve_mass_matrix_columns(model, data, inverse_.row(0), inverse_.width(), static_cast<int>(largest_));
}

const SparseRows& SparseIsland::build(const Model& model, const Data& data, const ContactProblem& problem,
                                      std::span<const int> rows) {
  rows_.clear();
  rows_.num_nodes = 0;
  for (Tree& tree : trees_) tree.first_node = -1;
  trees_of_island_.clear();
  const auto nv = static_cast<std::size_t>(model.nv());
  for (const int r : rows) {
    const std::span<const int> trees = trees_of(model, problem, problem.rows[r]);
    for (const int tree : trees) add_tree(tree);
    add_row(problem.J.data() + static_cast<std::size_t>(r) * nv, trees);
  }
  const MatrixX& M = last_mass_matrix(model, data);
  const VectorX& added = factored_diagonal(model, data);
  for (const int tree : trees_of_island_) add_mass(M, added, trees_[tree]);
  return rows_;
}

std::span<const int> SparseIsland::trees_of(const Model& model, const ContactProblem& problem, const Row& row) {
  trees_of_row_.clear();
  const auto add = [&](int dof) {
    const int tree = tree_of_dof_[dof];
    if (std::find(trees_of_row_.begin(), trees_of_row_.end(), tree) == trees_of_row_.end())
      trees_of_row_.push_back(tree);
  };
  if (row.block < 0) {
    add(row.dof);
    if (row.dof2 >= 0) add(row.dof2);
    return trees_of_row_;
  }
  const RowBlock& block = problem.blocks[row.block];
  const BodyRows& pair = problem.pairs[block.pair];
  for (const int body : {pair.body_A, pair.body_B})
    if (const std::span<const int> way = way_of(model, body); !way.empty()) add(way.front());
  return trees_of_row_;
}

void SparseIsland::add_tree(int index) {
  Tree& tree = trees_[index];
  if (tree.first_node >= 0) return;
  tree.first_node = rows_.num_nodes;
  rows_.num_nodes += tree.num_nodes();
  trees_of_island_.push_back(index);
}

void SparseIsland::add_row(const double* J_row, std::span<const int> trees) {
  for (const int index : trees) {
    const Tree& tree = trees_[index];
    const std::size_t start = rows_.J.size();
    for (int i = 0; i < tree.num_nodes(); ++i) rows_.node.push_back(tree.first_node + i);
    rows_.J.resize(start + static_cast<std::size_t>(tree.num_nodes()) * kStride, 0.0);
    rows_.Z.resize(rows_.J.size(), 0.0);
    for (std::size_t a = 0; a < tree.dofs.size(); ++a) {
      const double* inverse = inverse_.row(tree.dofs[a]);
      double z = 0.0;
      for (std::size_t c = 0; c < tree.dofs.size(); ++c) z += inverse[c] * J_row[tree.dofs[c]];
      const std::size_t at = start + a / kSize * kStride + a % kSize;
      rows_.J[at] = J_row[tree.dofs[a]];
      rows_.Z[at] = z;
    }
  }
  rows_.first.push_back(static_cast<int>(rows_.node.size()));
}

void SparseIsland::add_mass(const MatrixX& M, const VectorX& added, const Tree& tree) {
  const auto size = static_cast<int>(tree.dofs.size());
  for (int row = 0; row < tree.num_nodes(); ++row)
    for (int column = 0; column < tree.num_nodes(); ++column) {
      rows_.mass_blocks.push_back({tree.first_node + row, tree.first_node + column});
      const std::size_t start = rows_.M.size();
      rows_.M.resize(start + SparseRows::kBlock, 0.0);
      for (int c = 0; c < kSize; ++c)
        for (int r = 0; r < kSize; ++r) {
          const int i = kSize * row + r;
          const int j = kSize * column + c;
          double value = i == j ? 1.0 : 0.0;
          if (i < size && j < size) {
            const int k = tree.dofs[i];
            value = M(k, tree.dofs[j]) + (i == j ? added[k] : 0.0);
          }
          rows_.M[start + static_cast<std::size_t>(kStride * c + r)] = value;
        }
    }
}

void SparseIsland::add_velocities(VectorArgument f, VectorX& v) {
  velocity_.assign(rows_.vector_size(), 0.0);
  for (int i = 0; i < rows_.num_rows(); ++i)
    if (f[i] != 0.0) rows_.add_velocity(i, f[i], velocity_.data());
  for (const int index : trees_of_island_) {
    const Tree& tree = trees_[index];
    const double* from = velocity_.data() + static_cast<std::ptrdiff_t>(kStride) * tree.first_node;
    for (std::size_t a = 0; a < tree.dofs.size(); ++a) v[tree.dofs[a]] += from[a / kSize * kStride + a % kSize];
  }
}

}  // namespace tangere
