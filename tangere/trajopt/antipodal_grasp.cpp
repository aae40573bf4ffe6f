/// Antipodal grasps: the ball of a finger is moved along a line until it is a gap away from the object; where that is
/// depends on the distance, which the ball can be moved by without passing through (sphere tracing). The robot follows
/// by damped least squares on the positions of both balls.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/trajopt/contact_rrt.hpp"

namespace tangere {
namespace {

constexpr int kMostTries = 20;

struct Finger {
  int body = 0;
  Shape shape;
  Pose X_BS;
};

Finger finger_of(const Model& model, const std::string& name) {
  const int body = model.body_index(name);
  const auto& shapes = model.body(body).spec.shapes;
  if (shapes.empty()) throw InputError(name, "has no shape");
  return {body, shapes.front().shape, shapes.front().X_BS};
}

bool is_fixed(const Model& model, int body) {
  for (; body != kWorld; body = model.body(body).parent)
    if (model.joints()[body].nv > 0) return false;
  return true;
}

class Sampler {
 public:
  Sampler(const World& world, const AntipodalGrasp& grasp)
      : world_(world),
        options_(grasp),
        object_(world.model().body_index(grasp.object)),
        fingers_{finger_of(world.model(), grasp.first), finger_of(world.model(), grasp.second)} {
    if (world.model().body(object_).spec.shapes.empty()) throw InputError(grasp.object, "has no shape");
  }

  bool operator()(Random& random, const VectorX& q, VectorX& q_new, VectorX& command) const {
    const Model& model = world_.model();
    Data data(model);
    DistanceWorkspace distances;
    for (int i = 0; i < kMostTries; ++i) {
      forward_kinematics(model, data, q);
      const double angle = random.uniform(-std::numbers::pi, std::numbers::pi);
      const Vector3 along(std::cos(angle), 0.0, std::sin(angle));
      const Vector3 aside(-along.z(), 0.0, along.x());
      const Vector3 center =
          body_pose(model, data, object_).p + random.uniform(-options_.offset, options_.offset) * aside;
      std::array<Vector3, 2> places;
      if (!approach(data, distances, fingers_[0], center, along, places[0])) continue;
      if (!approach(data, distances, fingers_[1], center, -along, places[1])) continue;
      q_new = q;
      if (!follow(data, places, q_new) || !is_free(data, distances, q_new)) continue;
      command = holding_command(world_, q_new);
      const VectorX lower = world_.lower_control(), upper = world_.upper_control();
      if (((command - lower).array() < 0.0).any() || ((upper - command).array() < 0.0).any()) continue;
      return true;
    }
    return false;
  }

 private:
  /// The least distance of a finger at a place to all shapes of the object, or of what is fixed to the world.
  double clearance(const Data& data, DistanceWorkspace& distances, const Finger& finger, const Vector3& place,
                   bool to_object) const {
    const Model& model = world_.model();
    double least = 1e300;
    const auto look = [&](const CollisionShape& shape, const Pose& X_WB) {
      const Pose X_WS = X_WB * shape.X_BS;
      least =
          std::min(least, distance(finger.shape, Pose::translation(place), shape.shape, X_WS, {}, distances).distance);
    };
    if (to_object)
      for (const CollisionShape& shape : model.body(object_).spec.shapes) look(shape, body_pose(model, data, object_));
    if (!to_object)
      for (int body = 0; body < model.num_bodies(); ++body)
        if (is_fixed(model, body))
          for (const CollisionShape& shape : model.body(body).spec.shapes) look(shape, body_pose(model, data, body));
    return least;
  }

  /// The place on the way from `center` + reach `along` inwards.
  bool approach(const Data& data, DistanceWorkspace& distances, const Finger& finger, const Vector3& center,
                const Vector3& along, Vector3& place) const {
    double far = options_.reach;
    for (int i = 0; i < 60 && far > 0.0; ++i) {
      place = center + far * along;
      const double gap = clearance(data, distances, finger, place, true) - options_.gap;
      if (gap < 1e-6) return true;
      far -= gap;
    }
    return false;
  }

  /// Moves all but the object until the fingers are at their places.
  bool follow(Data& data, const std::array<Vector3, 2>& places, VectorX& q) const {
    const Model& model = world_.model();
    MatrixX J = MatrixX::Zero(4, model.nv());
    VectorX miss(4);
    Matrix6X body_J;
    for (int i = 0; i < 50; ++i) {
      forward_kinematics(model, data, q);
      for (int f = 0; f < 2; ++f) {
        const Pose X_WB = body_pose(model, data, fingers_[f].body);
        const Vector3 arm = X_WB.R * fingers_[f].X_BS.p;
        const Vector3 away = places[f] - (X_WB.p + arm);
        body_jacobian(model, data, fingers_[f].body, body_J);
        for (int k = 0; k < model.nv(); ++k) {
          const Vector3 velocity = body_J.col(k).head<3>() + Vector3(body_J.col(k).tail<3>()).cross(arm);
          J(2 * f, k) = velocity.x();
          J(2 * f + 1, k) = velocity.z();
        }
        miss[2 * f] = away.x();
        miss[2 * f + 1] = away.z();
      }
      if (miss.lpNorm<Eigen::Infinity>() < 1e-8) return true;
      const MatrixX normal = J * J.transpose() + 1e-8 * MatrixX::Identity(4, 4);
      VectorX dq = J.transpose() * normal.llt().solve(miss);
      const double largest = dq.lpNorm<Eigen::Infinity>();
      if (largest > 0.5) dq *= 0.5 / largest;
      VectorX next(q.size());
      integrate(model, q, dq, next);
      q = next;
    }
    return false;
  }

  /// Whether the fingers are clear of what is fixed.
  bool is_free(Data& data, DistanceWorkspace& distances, const VectorX& q) const {
    const Model& model = world_.model();
    forward_kinematics(model, data, q);
    for (const Finger& finger : fingers_) {
      const Vector3 place = (body_pose(model, data, finger.body) * finger.X_BS).p;
      if (clearance(data, distances, finger, place, false) < options_.gap) return false;
    }
    return true;
  }

  World world_;
  AntipodalGrasp options_;
  int object_;
  std::array<Finger, 2> fingers_;
};

}  // namespace

VectorX holding_command(const World& world, const VectorX& q) {
  VectorX command = VectorX::Zero(world.nu());
  for (std::size_t i = 0; i < world.actuators().size(); ++i) {
    const Actuator& actuator = world.actuators()[i];
    const ActuatorLaw law = law_of(actuator);
    if (law.stiffness == 0.0 || law.gain == 0.0) continue;
    for (const Joint& joint : world.model().joints())
      if (actuator.dof >= joint.first_v && actuator.dof < joint.first_v + joint.nv && joint.nq == joint.nv)
        command[static_cast<int>(i)] =
            law.stiffness / law.gain * actuator.gear * q[joint.first_q + actuator.dof - joint.first_v];
  }
  return command;
}

GraspSampler antipodal_grasps(const World& world, const AntipodalGrasp& grasp) { return Sampler(world, grasp); }

}  // namespace tangere
