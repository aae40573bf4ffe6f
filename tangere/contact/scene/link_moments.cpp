#include "tangere/contact/scene/link_moments.hpp"

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere {
namespace {

/// m (|r|² 1 − r rᵀ) as r moves by d.
Matrix3 second_moment_change(double mass, const Vector3& r, const Vector3& d) {
  return mass * (2.0 * r.dot(d) * Matrix3::Identity() - r * d.transpose() - d * r.transpose());
}

/// As a body of the link is carried by a twist about the link's origin: added to `change`.
void carry_moments(const Model& model, const LinkMoments& link, int body, const Vector6& twist, LinkMoments& change) {
  const Pose X_LB = to_pose(model.links().bodies[body].X_LB);
  const MassProperties& inertia = model.body(body).spec.inertia;
  const Vector3 c = X_LB * inertia.center;
  const Vector3 w = twist.tail<3>();
  const Vector3 d = twist.head<3>() + w.cross(c);
  const Matrix3 J = X_LB.R * inertia.inertia * X_LB.R.transpose();
  change.center += inertia.mass / link.mass * d;
  change.inertia += second_moment_change(inertia.mass, c - link.center, d);
  change.inertia += so3::hat(w) * J - J * so3::hat(w);
}

/// A fixed joint carries its body and all of the link beyond.
LinkMoments carried_by(const Model& model, const LinkMoments& link, const Parameter& p) {
  const Links& links = model.links();
  const Pose X_LP = to_pose(links.bodies[model.body(p.index).parent].X_LB);
  const Vector6 twist = placement_twist(X_LP, model.joint(p.index).spec.X_PJ, p.component, Vector3::Zero());
  LinkMoments change;
  for (int b = p.index; b < model.num_bodies(); ++b) {
    if (links.bodies[b].link != links.bodies[p.index].link) continue;
    int up = b;
    while (up > p.index) up = model.body(up).parent;
    if (up == p.index) carry_moments(model, link, b, twist, change);
  }
  return change;
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
  if (is_placement_within_link(model, p)) return carried_by(model, link, p);
  if (!is_inertial(p)) return change;
  const Pose X_LB = to_pose(model.links().bodies[p.index].X_LB);
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

bool is_inertial(const Parameter& p) {
  return p.kind == Parameter::Kind::mass || p.kind == Parameter::Kind::center || p.kind == Parameter::Kind::inertia;
}

bool is_placement_within_link(const Model& model, const Parameter& p) {
  return p.kind == Parameter::Kind::placement && model.joint(p.index).nv == 0 &&
         model.links().bodies[p.index].link >= 0;
}

std::vector<char> find_lone_links(const Model& model) {
  const Links& links = model.links();
  std::vector<char> alone(links.links.size(), 1);
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    const Link& link = links.links[i];
    if (link.parent >= 0) alone[link.parent] = 0;
    if (link.kind != Link::Kind::free || link.parent >= 0 || !(link.inertia.m > 0.0)) alone[i] = 0;
  }
  return alone;
}

}  // namespace tangere
