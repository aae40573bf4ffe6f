#include "tangere/solvers/lcp/sparse_rows.hpp"

#include "tangere/math/vec.hpp"

namespace tangere {

void SparseRows::clear() {
  first.assign(1, 0);
  node.clear();
  J.clear();
  Z.clear();
  mass_blocks.clear();
  M.clear();
}

double SparseRows::along(int i, const double* x) const {
  Vec8 products = splat8(0.0);
  for (int p = first[i]; p < first[static_cast<std::size_t>(i) + 1]; ++p)
    products += load8(J.data() + kStride * p) * load8(x + kStride * node[p]);
  return sum(products);
}

double SparseRows::diagonal(int i) const {
  Vec8 products = splat8(0.0);
  for (int p = first[i]; p < first[static_cast<std::size_t>(i) + 1]; ++p)
    products += load8(J.data() + kStride * p) * load8(Z.data() + kStride * p);
  return sum(products);
}

void SparseRows::add(const double* pieces, int i, double f, double* x) const {
  const Vec8 factor = splat8(f);
  for (int p = first[i]; p < first[static_cast<std::size_t>(i) + 1]; ++p) {
    double* at = x + kStride * node[p];
    store8(at, load8(at) + load8(pieces + kStride * p) * factor);
  }
}

}  // namespace tangere
