#include "tangere/contact/smooth/internal/rebound_energy.hpp"

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
  const int n = island.num_velocities();
  ScratchVector::View next = next_.reset(n);
  ScratchVector::View old = old_.reset(n);
  ScratchVector::View p = p_.reset(n);
  island.velocities(next.data());
  for (const int i : island.movers()) {
    const FreeMover& mover = problem.free[i];
    const int at = island.place_of(i);
    const Matrix3 Rt = mover.X_WL.R.transpose();
    const Vector3 spin = next.segment<3>(at + 3);
    const Vector3 linear = mover.mass * (next.segment<3>(at) + spin.cross(mover.center_L)) - Rt * mover.linear_before;
    old.segment<6>(at) = v.segment<6>(mover.first_v);
    p.segment<3>(at) = linear;
    p.segment<3>(at + 3) = mover.inertia_L * spin - Rt * mover.angular_before + mover.center_L.cross(linear);
  }
  if (island.with_tree()) {
    const int first = island.tree_place();
    problem.tree->residual(p.data() + first);
    for (int i = 0; i < problem.tree->size(); ++i) {
      const int dof = problem.tree->dofs()[i];
      old[first + i] = v[dof];
      p[first + i] *= problem.units->momentum(dof);
    }
  }
  size_ = std::max(p.dot(next - old), 0.0);
}

double ReboundEnergy::balance(const ReboundLimit& limit) const {
  return p_.view().dot(next_.view() + old_.view()) + limit.seam() * size_;
}

void ReboundEnergy::differentiate(const SmoothProblem& problem, const SmoothIsland& island, const ReboundLimit& limit) {
  const double d = seam(limit);
  const int n = island.num_velocities();
  ScratchVector::View y = y_.reset(n);
  ScratchVector::View momentum = momentum_.reset(n);
  y = (1.0 + d) * next_.view() + (1.0 - d) * old_.view();
  by_x_ = limit.seam_slope() * size_;
  for (const int i : island.movers()) {
    const FreeMover& mover = problem.free[i];
    const int at = island.place_of(i);
    const Vector3 linear = mover.mass * center_of(mover, at);
    momentum.segment<3>(at) = linear;
    momentum.segment<3>(at + 3) = mover.inertia_L * y.segment<3>(at + 3) + mover.center_L.cross(linear);
  }
  if (island.with_tree()) {
    const int first = island.tree_place();
    problem.tree->momentum(y.data() + first, momentum.data() + first);
  }
  by_next_.reset(n) = (1.0 + d) * p_.view() + momentum;
}

Vector3 ReboundEnergy::center_of(const FreeMover& mover, int place) const {
  return y_.view().segment<3>(place) + y_.view().segment<3>(place + 3).cross(mover.center_L);
}

double ReboundEnergy::by_moments(const FreeMover& mover, int place, const Vector3& gravity,
                                 const LinkMoments& change) const {
  const Vector3 fall = mover.time_step * (mover.X_WL.R.transpose() * gravity);
  const Vector6 change_of_v = next_.view().segment<6>(place) - old_.view().segment<6>(place);
  const Vector3 spin = change_of_v.tail<3>();
  const Vector3 speed = change_of_v.head<3>() + spin.cross(mover.center_L) - fall;
  const Vector3 y_spin = y_.view().segment<3>(place + 3);
  const Vector3 y_center = center_of(mover, place);
  return change.mass * y_center.dot(speed) +
         mover.mass * (y_spin.cross(change.center).dot(speed) + y_center.dot(spin.cross(change.center))) +
         y_spin.dot(change.inertia * spin);
}

}  // namespace tangere
