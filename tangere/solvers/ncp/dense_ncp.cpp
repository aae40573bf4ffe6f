#include "tangere/solvers/ncp/dense_ncp.hpp"

#include <algorithm>

#include "tangere/math/error.hpp"
#include "tangere/math/small_lu.hpp"

namespace tangere {

DenseNcp::DenseNcp(const DenseNcpFunction& function) : function_(function), cones_(function.cones()) {
  int next = 0;
  for (const NcpCone& cone : cones_) {
    const int least = cone.kind == NcpCone::Kind::orthant ? 1 : 2;
    if (cone.first != next || cone.size < least)
      throw InputError("cones",
                       "must follow one another from 0 on, orthants of at least 1 and second-order cones of "
                       "at least 2 entries");
    next += cone.size;
  }
  if (function.num_y() < 0) throw InputError("num_y", "must not be negative");
  y_.setZero(function.num_y());
  dy_ = y_saved_ = y_;
  z_.setZero(next);
  for (const NcpCone& cone : cones_)
    z_.segment(cone.first, cone.kind == NcpCone::Kind::orthant ? cone.size : 1).setOnes();
  s_ = z_;
  const auto n = static_cast<std::size_t>(y_.size() + 2 * z_.size());
  matrix_.resize(n * n);
  pivots_.resize(n);
  right_.resize(n);
  f_.setZero(y_.size() + z_.size());
  J_.setZero(f_.size(), static_cast<Eigen::Index>(n));
}

double DenseNcp::evaluate() {
  function_.value(y_, z_, s_, f_);
  return f_.size() > 0 ? f_.cwiseAbs().maxCoeff<Eigen::PropagateNaN>() : 0.0;
}

bool DenseNcp::factor() {
  const Eigen::Index ny = y_.size();
  const Eigen::Index nz = z_.size();
  const Eigen::Index n = ny + 2 * nz;
  function_.jacobian(y_, z_, s_, J_);
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  const auto at = [&](Eigen::Index i, Eigen::Index j) -> double& { return matrix_[i * n + j]; };
  for (Eigen::Index i = 0; i < ny + nz; ++i)
    for (Eigen::Index j = 0; j < n; ++j) at(i, j) = J_(i, j);
  for (const NcpCone& cone : cones_) {
    const Eigen::Index row = ny + nz + cone.first;
    for (Eigen::Index k = 0; k < cone.size; ++k) {
      const Eigen::Index i = cone.first + k;
      if (cone.kind == NcpCone::Kind::orthant) {
        at(row + k, ny + i) = s_[i];
        at(row + k, ny + nz + i) = z_[i];
        continue;
      }
      // arrow: the head row and column, and the head on the diagonal
      at(row, ny + i) = s_[i];
      at(row, ny + nz + i) = z_[i];
      at(row + k, ny + cone.first) = s_[i];
      at(row + k, ny + nz + cone.first) = z_[i];
      at(row + k, ny + i) = s_[cone.first];
      at(row + k, ny + nz + i) = z_[cone.first];
    }
  }
  return lu_factor(matrix_.data(), n, static_cast<int>(n), pivots_.data());
}

void DenseNcp::solve_system(double* x) const {
  const auto n = static_cast<int>(right_.size());
  lu_solve(matrix_.data(), n, n, pivots_.data(), x);
}

void DenseNcp::solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) {
  const auto equalities = static_cast<std::size_t>(f_.size());
  for (std::size_t i = 0; i < equalities; ++i) right_[i] = -f_[static_cast<Eigen::Index>(i)];
  std::copy(r.begin(), r.end(), right_.begin() + static_cast<std::ptrdiff_t>(equalities));
  solve_system(right_.data());
  const auto ny = static_cast<std::ptrdiff_t>(y_.size());
  const auto nz = static_cast<std::ptrdiff_t>(z_.size());
  std::copy_n(right_.begin(), ny, dy_.data());
  std::copy_n(right_.begin() + ny, nz, dz.begin());
  std::copy_n(right_.begin() + ny + nz, nz, ds.begin());
}

bool DenseNcp::sensitivity(const VectorX& df, VectorX& dy, VectorX& dz, VectorX& ds) {
  if (df.size() != f_.size())
    throw InputError("df", "must have " + std::to_string(f_.size()) + " entries, got " + std::to_string(df.size()));
  (void)evaluate();
  if (!factor()) return false;
  std::fill(right_.begin(), right_.end(), 0.0);
  for (Eigen::Index i = 0; i < df.size(); ++i) right_[i] = -df[i];
  solve_system(right_.data());
  const Eigen::Map<const VectorX> x(right_.data(), static_cast<Eigen::Index>(right_.size()));
  dy = x.head(y_.size());
  dz = x.segment(y_.size(), z_.size());
  ds = x.tail(s_.size());
  return true;
}

}  // namespace tangere
