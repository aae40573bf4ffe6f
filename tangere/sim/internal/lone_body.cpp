#include "tangere/sim/internal/lone_body.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "tangere/contact/smooth/free_mover.hpp"
#include "tangere/math/so3.hpp"

namespace tangere {
std::vector<LoneBody> find_lone_bodies(const Model& model, const std::vector<char>& alone) {
  const Links& links = model.links();
  std::vector<LoneBody> out;
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    if (alone[i] == 0) continue;
    const LinkMoments moments = moments_of(links.links[i]);
    out.push_back({links.links[i].v, moments.center, moments.inertia, moments.inertia.inverse()});
  }
  return out;
}

void set_moment_columns(const World& world, std::span<const StepParameter> parameters, MomentColumns& out) {
  const Links& links = world.model().links();
  out.reset(world.lone_bodies().size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind != StepParameter::Kind::model) continue;
    const Parameter& p = parameters[i].model;
    if (!is_inertial(p) && !is_placement_within_link(world.model(), p)) continue;
    const int link = links.bodies[p.index].link;
    for (std::size_t b = 0; b < world.lone_bodies().size(); ++b)
      if (link >= 0 && world.lone_bodies()[b].first_v == links[link].v)
        out.at(b, static_cast<int>(i)) = moment_change(world.model(), moments_of(links[link]), p);
  }
}

Vector6 flight_acceleration(const LoneBody& body, const Vector6& v) {
  const Vector3 w = v.tail<3>();
  Vector6 out;
  out.tail<3>() = body.inverse * (body.inertia * w).cross(w);
  out.head<3>() = -w.cross(v.head<3>() + w.cross(body.center)) - out.tail<3>().cross(body.center);
  return out;
}

LoneMotion::LoneMotion(const LoneBody& body, const Vector6& d, const Vector6& v)
    : body_(body), a_(d.tail<3>()), spin_(v.tail<3>()) {
  const MidpointTurn midpoint = midpoint_turn(body.inertia, a_);
  turn_ = midpoint.turn;
  solve_ = midpoint.inverse;
  trivialised_ = cayley_right_jacobian(turn_);
  const Matrix3 hat = so3::hat(turn_);
  X_ = Matrix3::Identity() + (hat + 0.5 * hat * hat) / (1.0 + 0.25 * turn_.squaredNorm());
  way_ = d.head<3>() + a_.cross(body.center) - cayley_shift(turn_, body.center);
  momentum_next_ = X_.transpose() * (body.inertia * spin_);
  spin_next_ = body.inverse * momentum_next_;
  center_velocity_ = v.head<3>() + spin_.cross(body.center);
  center_velocity_next_ = X_.transpose() * center_velocity_;
}

Vector6 LoneMotion::displacement() const {
  Vector6 out;
  out << way_, cayley_logarithm(turn_);
  return out;
}

Vector6 LoneMotion::velocity() const {
  Vector6 out;
  out << center_velocity_next_ - spin_next_.cross(body_.center), spin_next_;
  return out;
}

void LoneMotion::forward(const Vector6& dq, const Vector6& dd, const Vector6& dv, const LinkMoments* moments,
                         Vector6& q_next, Vector6& v_next) const {
  const Vector3& c = body_.center;
  Vector3 right = body_.inertia * dd.tail<3>();
  Vector3 center = Vector3::Zero();
  Vector3 momentum = body_.inertia * dv.tail<3>();
  Vector3 own = Vector3::Zero();
  if (moments != nullptr) {
    const Matrix3& dJ = moments->inertia;
    const Vector3 L = dJ * turn_;
    right -= L - 0.5 * L.cross(turn_) - dJ * a_;
    center = moments->center;
    momentum += dJ * spin_;
    own = dJ * spin_next_;
  }
  const Vector3 turned = trivialised_ * (solve_ * right);
  const Vector3 way =
      dd.head<3>() + dd.tail<3>().cross(c) + a_.cross(center) + center - X_ * (turned.cross(c) + center);
  q_next.head<3>() = X_.transpose() * (dq.head<3>() + dq.tail<3>().cross(way_) + way);
  q_next.tail<3>() = X_.transpose() * dq.tail<3>() + turned;
  const Vector3 spin = body_.inverse * (momentum_next_.cross(turned) + X_.transpose() * momentum - own);
  const Vector3 velocity = dv.head<3>() + dv.tail<3>().cross(c) + spin_.cross(center);
  v_next.head<3>() =
      center_velocity_next_.cross(turned) + X_.transpose() * velocity - spin.cross(c) - spin_next_.cross(center);
  v_next.tail<3>() = spin;
}

void LoneMotion::reverse(const Vector6& q_next, const Vector6& v_next, Vector6& dq, Vector6& dd, Vector6& dv) const {
  const Vector3& c = body_.center;
  // (a × b) · g = a · (b × g) throughout
  const Vector3 g_velocity = X_ * v_next.head<3>();
  const Vector3 g_momentum = body_.inverse * (v_next.tail<3>() - c.cross(v_next.head<3>()));
  const Vector3 g_way = X_ * q_next.head<3>();
  const Vector3 g_turned = q_next.tail<3>() - c.cross(q_next.head<3>()) + g_momentum.cross(momentum_next_) +
                           v_next.head<3>().cross(center_velocity_next_);
  dq.head<3>() = g_way;
  dq.tail<3>() = X_ * q_next.tail<3>() + way_.cross(g_way);
  dd.head<3>() = g_way;
  dd.tail<3>() = c.cross(g_way) + body_.inertia * (solve_.transpose() * (trivialised_.transpose() * g_turned));
  dv.head<3>() = g_velocity;
  dv.tail<3>() = c.cross(g_velocity) + body_.inertia * (X_ * g_momentum);
}

}  // namespace tangere
