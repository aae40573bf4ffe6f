#include "tangere/contact/link_moments.hpp"

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

/// m (|r|² 1 − r rᵀ) as r moves by d.
Matrix3 second_moment_change(double mass, const Vector3& r, const Vector3& d) {
  return mass * (2.0 * r.dot(d) * Matrix3::Identity() - r * d.transpose() - d * r.transpose());
}

}  // namespace

LinkMoments moments_of(const Link& link) {
  LinkMoments out;
  out.mass = link.inertia.m;
  out.center = to_vector3(link.inertia.h) / out.mass;
  const Vector3& c = out.center;
  out.inertia = to_matrix3(link.inertia.I) - out.mass * (c.squaredNorm() * Matrix3::Identity() - c * c.transpose());
  return out;
}

LinkMoments moment_change(const Model& model, const LinkMoments& link, const Parameter& p) {
  LinkMoments change;
  if (!is_inertial(p)) return change;
  const Pose X_LB = to_pose(model.links().bodies[static_cast<std::size_t>(p.index)].X_LB);
  const MassProperties& body = model.body(p.index).spec.inertia;
  const Vector3 r = X_LB * body.center - link.center;
  if (p.kind == Parameter::Kind::mass) {
    change.mass = 1.0;
    change.center = r / link.mass;
    change.inertia = r.squaredNorm() * Matrix3::Identity() - r * r.transpose();
  }
  if (p.kind == Parameter::Kind::center) {
    const Vector3 d = X_LB.R.col(p.component);
    change.center = body.mass / link.mass * d;
    change.inertia = second_moment_change(body.mass, r, d);
  }
  if (p.kind == Parameter::Kind::inertia) {
    constexpr int kEntries[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    Matrix3 unit = Matrix3::Zero();
    const auto [i, j] = kEntries[p.component];
    unit(i, j) = unit(j, i) = 1.0;
    change.inertia = X_LB.R * unit * X_LB.R.transpose();
  }
  return change;
}

void carry_moments(const Model& model, const LinkMoments& link, int body, const Vector6& twist, LinkMoments& change) {
  const Pose X_LB = to_pose(model.links().bodies[static_cast<std::size_t>(body)].X_LB);
  const MassProperties& inertia = model.body(body).spec.inertia;
  const Vector3 c = X_LB * inertia.center;
  const Vector3 w = twist.tail<3>();
  const Vector3 d = twist.head<3>() + w.cross(c);
  const Matrix3 J = X_LB.R * inertia.inertia * X_LB.R.transpose();
  change.center += inertia.mass / link.mass * d;
  change.inertia += second_moment_change(inertia.mass, c - link.center, d);
  change.inertia += so3::hat(w) * J - J * so3::hat(w);
}

bool is_inertial(const Parameter& p) {
  return p.kind == Parameter::Kind::mass || p.kind == Parameter::Kind::center || p.kind == Parameter::Kind::inertia;
}

}  // namespace tangere
