#include "tangere/contact/rebound_energy.hpp"

#include <cmath>

#include <Eigen/Geometry>

namespace tangere {

ReboundLimit::ReboundLimit(double kappa) : width_(std::sqrt(kappa)) {}

double ReboundLimit::most() const { return 1.0 / std::cbrt(width_); }

double ReboundLimit::seam() const {
  const double left = std::max(1.0 - x, 0.0);
  return width_ * left * left * left;
}

double ReboundLimit::seam_slope() const {
  const double left = std::max(1.0 - x, 0.0);
  return -3.0 * width_ * left * left;
}

double ReboundLimit::guess(double gain) const {
  // a restitution e alone gains (e − 1) / (e + 1)
  const double share = (1.0 - gain) / (1.0 + gain);
  return std::min(std::cbrt(std::max(1.0 - share, 0.0) / width_), 0.9 * most());
}

void ReboundEnergy::evaluate(const SmoothProblem& problem, const SmoothIsland& island, const VectorX& v) {
  island.velocities(next_);
  old_.resize(next_.size());
  p_.resize(next_.size());
  for (const int i : island.movers()) {
    const FreeMover& mover = problem.free[static_cast<std::size_t>(i)];
    const int at = island.place_of(i);
    const Matrix3 Rt = mover.X_WL.R.transpose();
    const Vector3 spin = next_.segment<3>(at + 3);
    const Vector3 linear = mover.mass * (next_.segment<3>(at) + spin.cross(mover.center_L)) - Rt * mover.linear_before;
    old_.segment<6>(at) = v.segment<6>(mover.first_v);
    p_.segment<3>(at) = linear;
    p_.segment<3>(at + 3) = mover.inertia_L * spin - Rt * mover.angular_before + mover.center_L.cross(linear);
  }
  if (!island.with_tree()) return;
  const int first = island.tree_place();
  problem.tree->residual(p_.data() + first);
  for (int i = 0; i < problem.tree->size(); ++i) {
    const int dof = problem.tree->dofs()[static_cast<std::size_t>(i)];
    old_[first + i] = v[dof];
    p_[first + i] *= problem.units->momentum(dof);
  }
}

double ReboundEnergy::balance(const ReboundLimit& limit) const { return p_.dot(next_ + old_) + limit.seam() * size(); }

void ReboundEnergy::differentiate(const SmoothProblem& problem, const SmoothIsland& island, const ReboundLimit& limit) {
  const double d = limit.seam();
  y_ = (1.0 + d) * next_ + (1.0 - d) * old_;
  by_x_ = limit.seam_slope() * size();
  momentum_.resize(y_.size());
  for (const int i : island.movers()) {
    const FreeMover& mover = problem.free[static_cast<std::size_t>(i)];
    const int at = island.place_of(i);
    const Vector3 linear = mover.mass * center_of(mover, at);
    momentum_.segment<3>(at) = linear;
    momentum_.segment<3>(at + 3) = mover.inertia_L * y_.segment<3>(at + 3) + mover.center_L.cross(linear);
  }
  if (island.with_tree()) {
    const int first = island.tree_place();
    problem.tree->momentum(y_.data() + first, momentum_.data() + first);
  }
  by_next_ = (1.0 + d) * p_ + momentum_;
}

Vector3 ReboundEnergy::center_of(const FreeMover& mover, int place) const {
  return y_.segment<3>(place) + y_.segment<3>(place + 3).cross(mover.center_L);
}

double ReboundEnergy::by_moments(const FreeMover& mover, int place, const Vector3& gravity,
                                 const LinkMoments& change) const {
  const Vector3 fall = mover.time_step * (mover.X_WL.R.transpose() * gravity);
  const Vector3 spin = next_.segment<3>(place + 3) - old_.segment<3>(place + 3);
  const Vector3 speed = next_.segment<3>(place) - old_.segment<3>(place) + spin.cross(mover.center_L) - fall;
  const Vector3 y_spin = y_.segment<3>(place + 3);
  const Vector3 y_center = center_of(mover, place);
  return change.mass * y_center.dot(speed) +
         mover.mass * (y_spin.cross(change.center).dot(speed) + y_center.dot(spin.cross(change.center))) +
         y_spin.dot(change.inertia * spin);
}

}  // namespace tangere
