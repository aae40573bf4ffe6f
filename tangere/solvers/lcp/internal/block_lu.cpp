/// Right-looking: a node that goes changes the blocks between its neighbours,
///
///   K_rc ← K_rc − (K_rk K_kk⁻¹) K_kc
///
/// K_kk⁻¹ is kept in place of K_kk, and K_rk K_kk⁻¹ in place of K_rk.

#include "tangere/solvers/lcp/internal/block_lu.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "tangere/math/vec.hpp"

namespace tangere {
namespace {

constexpr int kSize = BlockLu::kSize;
constexpr int kStride = BlockLu::kStride;
constexpr int kGone = -1;
static_assert(kSize == 6 && kStride == 8);
alignas(64) constexpr double kIdentity[kSize * kStride] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,  //
                                                           0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,  //
                                                           0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};

/// C − A B, or A B alone.
template <bool Less>
void multiply(const double* A, const double* B, double* C) {
  Vec8 a[kSize];
  for (int k = 0; k < kSize; ++k) a[k] = load8(A + kStride * k);
  for (int c = 0; c < kSize; ++c) {
    Vec8 product = a[0] * splat8(B[kStride * c]);
    for (int k = 1; k < kSize; ++k) product += a[k] * splat8(B[kStride * c + k]);
    store8(C + kStride * c, Less ? load8(C + kStride * c) - product : product);
  }
}

void multiply_vector(const double* A, const double* x, double* y, double sign) {
  Vec8 product = load8(A) * splat8(x[0]);
  for (int k = 1; k < kSize; ++k) product += load8(A + kStride * k) * splat8(x[k]);
  store8(y, load8(y) + product * splat8(sign));
}

/// By operations on columns, which are whole registers: A E = I, and E is the inverse. The sign of A's determinant, 0
/// if it is singular.
int invert(double* A) {
  int sign = 1;
  Vec8 left[kSize];
  Vec8 inverse[kSize];
  for (int c = 0; c < kSize; ++c) {
    left[c] = load8(A + kStride * c);
    inverse[c] = load8(kIdentity + kStride * c);
  }
  for (int p = 0; p < kSize; ++p) {
    int best = p;
    for (int c = p + 1; c < kSize; ++c)
      if (std::abs(left[c][p]) > std::abs(left[best][p])) best = c;
    const double pivot = left[best][p];
    if (!(std::abs(pivot) > 0.0) || !std::isfinite(pivot)) return 0;
    if ((pivot < 0.0) != (best != p)) sign = -sign;
    std::swap(left[p], left[best]);
    std::swap(inverse[p], inverse[best]);
    left[p] *= splat8(1.0 / pivot);
    inverse[p] *= splat8(1.0 / pivot);
    for (int c = 0; c < kSize; ++c) {
      if (c == p) continue;
      const Vec8 factor = splat8(left[c][p]);
      left[c] -= left[p] * factor;
      inverse[c] -= inverse[p] * factor;
    }
  }
  for (int c = 0; c < kSize; ++c) store8(A + kStride * c, inverse[c]);
  return sign;
}

}  // namespace

void BlockLu::begin(int nodes) {
  nodes_ = nodes;
  words_ = (nodes + 63) / 64;
  connected_.assign(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(words_), 0);
}

void BlockLu::connect(int a, int b) {
  if (a == b) return;
  connected_[a * words_ + b / 64] |= std::uint64_t{1} << (b % 64);
  connected_[b * words_ + a / 64] |= std::uint64_t{1} << (a % 64);
}

int BlockLu::least_degree() const {
  int best = -1;
  for (int i = 0; i < nodes_; ++i)
    if (degree_[i] != kGone && (best < 0 || degree_[i] < degree_[best])) best = i;
  return best;
}

/// Its neighbours become neighbours of each other.
void BlockLu::eliminate(int node) {
  const std::uint64_t* of_node = connected_.data() + node * words_;
  const auto first = neighbours_.size();
  for (int word = 0; word < words_; ++word)
    for (std::uint64_t bits = of_node[word]; bits != 0; bits &= bits - 1)
      neighbours_.push_back(64 * word + std::countr_zero(bits));
  for (std::size_t i = first; i < neighbours_.size(); ++i) {
    const int other = neighbours_[i];
    std::uint64_t* row = connected_.data() + other * words_;
    int count = 0;
    for (int word = 0; word < words_; ++word) row[word] |= of_node[word];
    row[other / 64] &= ~(std::uint64_t{1} << (other % 64));
    row[node / 64] &= ~(std::uint64_t{1} << (node % 64));
    for (int word = 0; word < words_; ++word) count += std::popcount(row[word]);
    degree_[other] = count;
    index_[static_cast<std::size_t>(node) * stride() + static_cast<std::size_t>(other)] = blocks_++;
    index_[static_cast<std::size_t>(other) * stride() + static_cast<std::size_t>(node)] = blocks_++;
  }
  index_[static_cast<std::size_t>(node) * (stride() + 1)] = blocks_++;
  degree_[node] = kGone;
}

void BlockLu::order() {
  degree_.assign(static_cast<std::size_t>(nodes_), 0);
  for (int i = 0; i < nodes_; ++i)
    for (int word = 0; word < words_; ++word) degree_[i] += std::popcount(connected_[i * words_ + word]);
  index_.assign(stride() * stride(), -1);
  blocks_ = 0;
  order_.clear();
  neighbours_.clear();
  first_.assign(1, 0);
  for (int k = 0; k < nodes_; ++k) {
    const int node = least_degree();
    order_.push_back(node);
    eliminate(node);
    first_.push_back(static_cast<int>(neighbours_.size()));
  }
  clear();
}

void BlockLu::clear() { values_.assign(static_cast<std::size_t>(blocks_) * kArea, 0.0); }

bool BlockLu::factor() {
  alignas(64) double scaled[kArea];
  determinant_sign_ = 1;
  for (int k = 0; k < nodes_; ++k) {
    const int node = order_[k];
    double* diagonal = block(node, node);
    determinant_sign_ *= invert(diagonal);
    if (determinant_sign_ == 0) return false;
    for (const int* r = first_neighbour(k); r != last_neighbour(k); ++r) {
      multiply<false>(block(*r, node), diagonal, scaled);
      std::copy_n(scaled, kArea, block(*r, node));
      for (const int* c = first_neighbour(k); c != last_neighbour(k); ++c)
        multiply<true>(scaled, block(node, *c), block(*r, *c));
    }
  }
  return true;
}

void BlockLu::solve(double* x) const {
  for (int k = 0; k < nodes_; ++k) {
    const int node = order_[k];
    for (const int* r = first_neighbour(k); r != last_neighbour(k); ++r)
      multiply_vector(block(*r, node), x + kStride * node, x + kStride * *r, -1.0);
  }
  for (int k = nodes_ - 1; k >= 0; --k) {
    const int node = order_[k];
    double* at = x + kStride * node;
    for (const int* c = first_neighbour(k); c != last_neighbour(k); ++c)
      multiply_vector(block(node, *c), x + kStride * *c, at, -1.0);
    alignas(64) double right[kStride];
    std::copy_n(at, kStride, right);
    std::fill_n(at, kStride, 0.0);
    multiply_vector(block(node, node), right, at, 1.0);
  }
}

}  // namespace tangere
