#include "tangere/multibody/points.hpp"

#include "tangere/math/so3.hpp"

namespace tangere {

Vector3 point_position(const Model& model, const Data& data, int body, const Vector3& p_B) {
  return body_pose(model, data, body) * p_B;
}

void point_jacobian(const Model& model, const Data& data, int body, const Vector3& p_B, Matrix6X& J_body, Matrix3X& J) {
  body_jacobian(model, data, body, J_body);
  // the body's origin moves, and the point turns about it
  J.noalias() = J_body.topRows<3>() - so3::hat(body_pose(model, data, body).R * p_B) * J_body.bottomRows<3>();
}

Vector3 point_position(const Model& model, VectorArgument q, std::string_view body, const Vector3& p_B) {
  Data data(model);
  forward_kinematics(model, data, q);
  return point_position(model, data, model.body_index(body), p_B);
}

VectorX point_gradient(const Model& model, VectorArgument q, std::string_view body, const Vector3& p_B,
                       const Vector3& dl_dp_W) {
  Data data(model);
  forward_kinematics(model, data, q);
  Matrix6X J_body;
  Matrix3X J;
  point_jacobian(model, data, model.body_index(body), p_B, J_body, J);
  return J.transpose() * dl_dp_W;
}

}  // namespace tangere
