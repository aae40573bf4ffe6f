#include "tangere/contact/smooth/internal/bilevel.hpp"

#include <algorithm>

#include "tangere/math/small_lu.hpp"

namespace tangere {

void CollisionProblem::set(SmoothPair& pair) {
  pair_ = &pair;
  cones_.clear();
  int row = 0;
  for (const SmoothSide* side : {&pair.A, &pair.B}) {
    const ConicRowsView& rows = side->rows();
    if (rows.num_orthant > 0) cones_.push_back({NcpCone::Kind::orthant, row, rows.num_orthant});
    row += rows.num_orthant;
    for (int c = 0; c < rows.num_cones; ++c, row += 4) cones_.push_back({NcpCone::Kind::second_order, row, 4});
  }
  rows_A_ = static_cast<std::size_t>(SmoothSide::num_rows(pair.A.rows()));
  num_rows_ = static_cast<std::size_t>(row);
  num_y_ = static_cast<std::size_t>(pair.A.rows().num_aux + pair.B.rows().num_aux);
  y_saved_.resize(num_y_);
  dy_.resize(num_y_);
}

double CollisionProblem::evaluate() {
  const double worst =
      larger_norm(pair_->A.evaluate(pair_->x, pair_->alpha), pair_->B.evaluate(pair_->x, pair_->alpha));
  r_g_ << pair_->A.f + pair_->B.f, pair_->A.a + pair_->B.a - 1.0;
  return larger_norm(worst, r_g_.cwiseAbs().maxCoeff<Eigen::PropagateNaN>());
}

bool CollisionProblem::factor() {
  if (!pair_->A.factor() || !pair_->B.factor()) return false;
  H_ = pair_->A.H + pair_->B.H;
  return lu_factor(H_.data(), 4, 4, pivots_);
}

void CollisionProblem::solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) {
  Vector4 g_A;
  Vector4 g_B;
  pair_->A.forces(r.data(), g_A);
  pair_->B.forces(r.data() + rows_A_, g_B);
  du_ = g_A + g_B + r_g_;
  lu_solve(H_.data(), 4, 4, pivots_, du_.data());
  const Vector3 dx = du_.head<3>();
  pair_->A.recover(r.data(), dx, du_[3], dz.data(), ds.data(), dy_.data());
  pair_->B.recover(r.data() + rows_A_, dx, du_[3], dz.data() + rows_A_, ds.data() + rows_A_,
                   dy_.data() + pair_->A.rows().num_aux);
}

void CollisionProblem::save() {
  u_saved_ << pair_->x, pair_->alpha;
  std::copy_n(pair_->A.numbers().y, num_y_, y_saved_.begin());
}

void CollisionProblem::advance(double a) {
  pair_->x = u_saved_.head<3>() + a * du_.head<3>();
  pair_->alpha = u_saved_[3] + a * du_[3];
  for (std::size_t i = 0; i < num_y_; ++i) pair_->A.numbers().y[i] = y_saved_[i] + a * dy_[i];
}

void CollisionProblem::write(std::vector<double>& y) const {
  y.assign({pair_->x[0], pair_->x[1], pair_->x[2], pair_->alpha});
  y.insert(y.end(), pair_->A.numbers().y, pair_->A.numbers().y + num_y_);
}

void CollisionProblem::read(const std::vector<double>& y) {
  pair_->x = Eigen::Map<const Vector3>(y.data());
  pair_->alpha = y[3];
  std::copy_n(y.data() + 4, num_y_, pair_->A.numbers().y);
}

bool CollisionSolver::solve(SmoothPair& pair, double length, bool warm, const NcpOptions& options) {
  problem_.set(pair);
  if (warm) {
    for (const NcpCone& cone : problem_.cones()) {
      const int lifted = cone.kind == NcpCone::Kind::orthant ? cone.size : 1;
      for (int i = cone.first; i < cone.first + lifted; ++i) {
        problem_.z()[i] += kLift;
        problem_.s()[i] += kLift;
      }
    }
    const NcpResult result = solver_.solve(problem_, options);
    iterations_ += result.iterations;
    if (result.status == NcpStatus::solved) return true;
  }
  place_start(pair, 1.0 / length);
  pair.A.start(pair.x, pair.alpha, kStartProduct);
  pair.B.start(pair.x, pair.alpha, kStartProduct);
  const NcpResult result = solver_.solve(problem_, options);
  iterations_ += result.iterations;
  return result.status == NcpStatus::solved;
}

}  // namespace tangere
