#include "tangere/contact/scene/contact_finder.hpp"

#include <algorithm>

#include "tangere/contact/pair_friction.hpp"
#include "tangere/contact/scene/contact_frame.hpp"
#include "tangere/geometry/bounds.hpp"
#include "tangere/math/check.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere {
namespace {

/// Bodies that move by more within a step, in units of the smaller one, may turn and meet where nothing is near yet.
constexpr double kTurnsFast = 0.02;

/// Speed of the fastest point within reach of the body's origin.
double largest_speed(const Vector6& V, double reach) { return V.head<3>().norm() + V.tail<3>().norm() * reach; }

Aabb widened(const Aabb& box, double by) {
  return {box.lower - Vector3::Constant(by), box.upper + Vector3::Constant(by)};
}

}  // namespace

ContactFinder::ContactFinder(const Model& model, const CollisionScene& scene) {
  const std::size_t count = scene.shapes().size();
  poses_.resize(count);
  speeds_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CollisionShape& shape = scene.shape(model, static_cast<int>(i));
    (void)broad_phase_.add({Vector3::Zero(), Vector3::Zero()}, {shape.group, shape.mask});
  }
}

void ContactFinder::find(const Inputs& in, std::vector<Contact>& contacts, std::vector<FrameMotion>* motions) {
  const Model& model = in.model;
  const CollisionScene& scene = in.scene;
  const double time_step = in.time_step;
  contacts.clear();
  if (motions != nullptr) motions->clear();

  // boxes, widened by what each may move and half the margin; what is fixed is placed once
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const SceneShape& at = scene.shapes()[i];
    if (placed_ && way_of(model, at.body).empty()) continue;
    const CollisionShape& shape = scene.shape(model, static_cast<int>(i));
    const Pose X_WB = body_pose(model, in.data, at.body);
    poses_[i] = X_WB * shape.X_BS;
    speeds_[i] = 0.0;
    if (!way_of(model, at.body).empty()) {
      speeds_[i] = largest_speed(in.velocities.twist(model, in.data, at.body, X_WB.p), at.reach) +
                   model.gravity().norm() * time_step;
      if (in.expected != nullptr)
        speeds_[i] = std::max(speeds_[i], largest_speed(in.expected->twist(model, in.data, at.body, X_WB.p), at.reach));
    }
    broad_phase_.update(static_cast<int>(i),
                        widened(bounds(shape.shape, poses_[i]), 0.5 * in.margin + speeds_[i] * time_step));
  }
  placed_ = true;

  for (const BodyPair& pair : broad_phase_.pairs()) {
    const auto [a, b] = pair;
    const int body_A = scene.shapes()[a].body;
    const int body_B = scene.shapes()[b].body;
    if (!model.may_collide(body_A, body_B)) continue;
    const CollisionShape& A = scene.shape(model, a);
    const CollisionShape& B = scene.shape(model, b);
    const Pose& X_WA = poses_[a];
    const Pose& X_WB = poses_[b];
    ManifoldOptions query;
    const double speed = speeds_[a] + speeds_[b];
    query.margin = std::min(in.margin + speed * time_step, internal::kLargestSize);
    // an impact may turn what comes as fast as it comes
    const double reach = std::min(scene.shapes()[a].reach, scene.shapes()[b].reach);
    query.ahead = speed * time_step > kTurnsFast * reach;
    query.derivatives = motions != nullptr;
    for (const Manifold& patch : manifolds(A.shape, X_WA, B.shape, X_WB, query, manifolds_)) {
      for (int k = 0; k < patch.num_points; ++k) {
        const ContactPoint& point = patch.points[k];
        const NormalOwner owner = normal_owner(point.feature_A, point.feature_B);
        // the frame of the owner's shape turns as its body does
        const Matrix3& R_WO = (owner == NormalOwner::A ? X_WA : X_WB).R;
        Contact contact;
        contact.shape_A = a;
        contact.shape_B = b;
        contact.body_A = body_A;
        contact.body_B = body_B;
        contact.feature_A = point.feature_A;
        contact.feature_B = point.feature_B;
        contact.point = point.point;
        contact.frame = contact_frame(point.normal, R_WO);
        contact.distance = point.distance;
        contact.friction = friction_of(model, scene, in.options, {a, b});
        contact.restitution = A.restitution * B.restitution;
        contacts.push_back(contact);
        if (motions != nullptr)
          motions->push_back(frame_motion(point, patch.jacobians[k], X_WA, X_WB, contact.frame, R_WO, owner));
      }
    }
  }
}

}  // namespace tangere
