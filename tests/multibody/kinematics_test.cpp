/// Poses against each joint's own definition; velocities, accelerations and Jacobians against differences of poses.

#include "tangere/multibody/kinematics.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/model_state.hpp"

namespace tangere::test {
namespace {

Pose turned(const Vector3& axis, double angle) { return Pose::rotation(so3::exp(angle * axis.normalized())); }

/// What the table of joint.hpp says.
Pose motion_of(const JointSpec& joint, const double* q) {
  const Vector3 axis = joint.axis.normalized();
  switch (joint.type) {
    case JointType::fixed:
      return {};
    case JointType::revolute:
      return turned(axis, q[0]);
    case JointType::prismatic:
      return Pose::translation(q[0] * axis);
    case JointType::screw:
      return Pose::translation(q[0] * joint.pitch * axis) * turned(axis, q[0]);
    case JointType::universal:
      return turned(axis, q[0]) * turned(joint.axis2, q[1]);
    case JointType::ball:
      return Pose::from_quaternion(Vector3::Zero(), q[0], q[1], q[2], q[3]);
    case JointType::translation3:
      return Pose::translation({q[0], q[1], q[2]});
    case JointType::free:
      return Pose::from_quaternion({q[0], q[1], q[2]}, q[3], q[4], q[5], q[6]);
    default: {
      // some right-handed pair across the axis; which one is told for the coordinate axes (tested below)
      return {};
    }
  }
}

class Kinematics : public ModelState {
 protected:
  Kinematics() : ModelState(61) {}
};

TEST_P(Kinematics, PosesAreWhatTheJointsSay) {
  forward_kinematics(model, data, q);
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Joint& joint = model.joint(b);
    const Pose X_WP = model.body(b).parent == kWorld ? Pose() : body_pose(model, data, model.body(b).parent);
    const Pose X_WB = body_pose(model, data, b);
    const Pose moved = (X_WP * joint.spec.X_PJ).inverse() * X_WB * joint.spec.X_CJ;
    if (joint.spec.type == JointType::planar || joint.spec.type == JointType::translation2) {
      const Vector3 axis = joint.spec.axis.normalized();
      const double x = q[joint.first_q];
      const double y = q[joint.first_q + 1];
      EXPECT_NEAR(moved.p.dot(axis), 0.0, 1e-12);
      EXPECT_NEAR(moved.p.norm(), std::hypot(x, y), 1e-12);
      const double angle = joint.nv == 3 ? q[joint.first_q + 2] : 0.0;
      EXPECT_NEAR_ABSOLUTE(moved.R, turned(axis, angle).R, 1e-12);
      continue;
    }
    const Pose expected = motion_of(joint.spec, q.data() + joint.first_q);
    EXPECT_NEAR_ABSOLUTE(moved.R, expected.R, 1e-12);
    EXPECT_NEAR_ABSOLUTE(moved.p, expected.p, 1e-12);
  }
}

TEST_P(Kinematics, VelocitiesAreRatesOfPoses) {
  forward_kinematics(model, data, q, v, a);
  Data other(model);
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Matrix3 R = body_pose(model, data, b).R;
    const MatrixX rate = finite_difference(
        [&](const VectorX& t) -> VectorX {
          forward_kinematics(model, other, moved(v * t[0]));
          const Pose X = body_pose(model, other, b);
          VectorX out(6);
          out << X.p, so3::log(X.R * R.transpose());
          return out;
        },
        1, 6);
    EXPECT_NEAR_RELATIVE(body_velocity(model, data, b), rate, 1e-9);
    const MatrixX second = finite_difference(
        [&](const VectorX& t) -> VectorX {
          forward_kinematics(model, other, moved(v * t[0] + 0.5 * a * t[0] * t[0]), VectorX(v + a * t[0]));
          return body_velocity(model, other, b);
        },
        1, 6, 0.02);
    EXPECT_NEAR_RELATIVE(body_acceleration(model, data, b), second, 1e-8);
    Matrix6X J;
    Matrix6X J_dot;
    body_jacobian(model, data, b, J);
    body_jacobian_rate(model, data, b, J_dot);
    EXPECT_NEAR_RELATIVE(VectorX(J * v), body_velocity(model, data, b), 1e-12);
    EXPECT_NEAR_RELATIVE(VectorX(J * a + J_dot * v), body_acceleration(model, data, b), 1e-12);
    const MatrixX along = finite_difference(
        [&](const VectorX& t) -> VectorX {
          forward_kinematics(model, other, moved(v * t[0]));
          Matrix6X J_t;
          body_jacobian(model, other, b, J_t);
          return VectorX(Eigen::Map<const VectorX>(J_t.data(), J_t.size()));
        },
        1, 6 * model.nv());
    EXPECT_NEAR_RELATIVE(MatrixX(Eigen::Map<const VectorX>(J_dot.data(), J_dot.size())), along, 1e-8);
  }
}

TEST_P(Kinematics, CenterOfMass) {
  forward_kinematics(model, data, q, v, a);
  Vector3 expected = Vector3::Zero();
  for (int b = 0; b < model.num_bodies(); ++b) {
    const MassProperties& inertia = model.body(b).spec.inertia;
    expected += inertia.mass * (body_pose(model, data, b) * inertia.center);
  }
  expected /= model.total_mass();
  EXPECT_NEAR_RELATIVE(center_of_mass(model, data), expected, 1e-12);
  Data other(model);
  const auto at = [&](const VectorX& t) {
    forward_kinematics(model, other, moved(v * t[0] + 0.5 * a * t[0] * t[0]), VectorX(v + a * t[0]));
  };
  const MatrixX rate = finite_difference(
      [&](const VectorX& t) -> VectorX {
        at(t);
        return center_of_mass(model, other);
      },
      1, 3);
  EXPECT_NEAR_RELATIVE(center_of_mass_velocity(model, data), rate, 1e-9);
  const MatrixX second = finite_difference(
      [&](const VectorX& t) -> VectorX {
        at(t);
        return center_of_mass_velocity(model, other);
      },
      1, 3, 0.02);
  EXPECT_NEAR_RELATIVE(center_of_mass_acceleration(model, data), second, 1e-8);
  Matrix3X J;
  Matrix3X J_dot;
  center_of_mass_jacobian(model, data, J);
  center_of_mass_jacobian_rate(model, data, J_dot);
  EXPECT_NEAR_RELATIVE(VectorX(J * v), center_of_mass_velocity(model, data), 1e-12);
  EXPECT_NEAR_RELATIVE(VectorX(J * a + J_dot * v), center_of_mass_acceleration(model, data), 1e-12);
}

TEST_P(Kinematics, IntegrateAndDifference) {
  const VectorX delta = 0.7 * v;
  const VectorX q_1 = moved(delta);
  VectorX back(model.nv());
  difference(model, q, q_1, back);
  EXPECT_NEAR_ABSOLUTE(back, delta, 1e-12);
  const auto around = [&](const VectorX& from, const VectorX& to) {
    VectorX d(model.nv());
    difference(model, from, to, d);
    return d;
  };
  const auto plus = [&](const VectorX& from, const VectorX& d) {
    VectorX out(model.nq());
    integrate(model, from, d, out);
    return out;
  };
  MatrixX d_q;
  MatrixX d_delta;
  const int nv = model.nv();
  integrate_jacobians(model, q, delta, d_q, d_delta);
  EXPECT_NEAR_ABSOLUTE(
      d_q, finite_difference([&](const VectorX& t) -> VectorX { return around(q_1, plus(plus(q, t), delta)); }, nv, nv),
      1e-8);
  EXPECT_NEAR_ABSOLUTE(
      d_delta, finite_difference([&](const VectorX& t) -> VectorX { return around(q_1, plus(q, delta + t)); }, nv, nv),
      1e-8);
  MatrixX d_0;
  MatrixX d_1;
  difference_jacobians(model, q, q_1, d_0, d_1);
  EXPECT_NEAR_ABSOLUTE(
      d_0, finite_difference([&](const VectorX& t) -> VectorX { return around(plus(q, t), q_1); }, nv, nv), 1e-8);
  EXPECT_NEAR_ABSOLUTE(
      d_1, finite_difference([&](const VectorX& t) -> VectorX { return around(q, plus(q_1, t)); }, nv, nv), 1e-8);
  // in place
  VectorX same = q;
  integrate(model, same, delta, same);
  EXPECT_EQ(same, q_1);
}

INSTANTIATE_TEST_SUITE_P(AllModels, Kinematics, testing::ValuesIn(all_models()),
                         model_test_name<testing::TestParamInfo<NamedModel>>);

TEST(PlanarJoint, RunsAlongTheNamedAxes) {
  const Vector3 axes[3] = {Vector3::UnitX(), Vector3::UnitY(), Vector3::UnitZ()};
  for (int k = 0; k < 3; ++k) {
    for (const JointType type : {JointType::planar, JointType::translation2}) {
      ModelBuilder builder("plane");
      builder.add_body({.name = "body", .inertia = mass_properties(Sphere{0.1})}, {.type = type, .axis = axes[k]});
      const Model model = builder.build();
      Data data(model);
      VectorX q = VectorX::Zero(model.nq());
      q[0] = 2.0;
      q[1] = 3.0;
      forward_kinematics(model, data, q);
      EXPECT_NEAR_ABSOLUTE(body_pose(model, data, 0).p, Vector3(2.0 * axes[(k + 1) % 3] + 3.0 * axes[(k + 2) % 3]),
                           1e-15);
    }
  }
}

/// What rounding does to an axis does not turn the plane's own axes.
TEST(PlanarJoint, KeepsItsAxesWhereRoundingTurnsTheNormal) {
  const auto place = [](const Vector3& axis) -> Vector3 {
    ModelBuilder builder("plane");
    builder.add_body({.name = "body", .inertia = mass_properties(Sphere{0.1})},
                     {.type = JointType::planar, .axis = axis});
    const Model model = builder.build();
    Data data(model);
    forward_kinematics(model, data, Vector3(2.0, 3.0, 0.0));
    return body_pose(model, data, 0).p;
  };
  for (int k = 0; k < 3; ++k) {
    const Vector3 axis = Vector3::Unit(k);
    const Vector3 tilt = Vector3::Unit((k + 1) % 3) - 0.5 * Vector3::Unit((k + 2) % 3);
    for (const double angle : {1e-16, 1e-12, 1e-6, 1e-3})
      EXPECT_NEAR_ABSOLUTE(place(axis + angle * tilt), place(axis), 10.0 * angle + 1e-14);
  }
}

}  // namespace
}  // namespace tangere::test
