/// With w_A, w_B the closest points in their bodies' frames and v = c_A - c_B in A's:
///
///   dv = R_WAᵀ(δr_A - δr_B) + φ_A × w_A - R_AB (φ_B × w_B)                        (core coordinates held)
///   a  = [E_Aᵀ(dv + v × φ_A); -E_Bᵀ(R_ABᵀdv + v_B × φ_B)],   v_B = R_ABᵀv         (change of the gradient Fᵀv)
///
/// and the core coordinates follow by solving with a (solvers/qp_sensitivity).

#include "tangere/proximity/proximity_derivatives.hpp"

#include "tangere/math/so3.hpp"
#include "tangere/proximity/phi/internal/proximity_workspace.hpp"

namespace tangere {
namespace {

constexpr int kAlphaColumn = 3;

using Data = ProximityWorkspace::Data;

/// d(core coordinates) / d(poses): the rows of A's in the first three, of B's in the last three.
struct CoreMotion {
  Matrix3x12 A = Matrix3x12::Zero();
  Matrix3x12 B = Matrix3x12::Zero();
};

CoreMotion core_motion(const Data& data) {
  CoreMotion motion;
  const int n_A = data.core_A.dimension;
  const int n = data.num_variables();
  if (n == 0) return motion;
  const Matrix3 R_AW = data.X_WA.R.transpose();
  const Vector3 v_B = data.R_AB.transpose() * data.v;
  Matrix3x12 dv;
  dv << R_AW, -so3::hat(data.w_A), -R_AW, data.R_AB * so3::hat(data.w_B);
  Matrix3x12 a_A = dv;
  a_A.middleCols<3>(3) += so3::hat(data.v);
  Matrix3x12 a_B = -data.R_AB.transpose() * dv;
  a_B.middleCols<3>(9) -= so3::hat(v_B);
  for (int column = 0; column < 12; ++column) {
    double a[kMaxQpVariables];
    double dx[kMaxQpVariables];
    for (int k = 0; k < n; ++k) a[k] = k < n_A ? a_A(k, column) : a_B(k - n_A, column);
    data.sensitivity.solve(a, nullptr, dx);
    for (int k = 0; k < n; ++k) (k < n_A ? motion.A(k, column) : motion.B(k - n_A, column)) = dx[k];
  }
  return motion;
}

/// d(c_A), d(c_B) in world axes.
struct PointMotion {
  Matrix3x12 c_A;
  Matrix3x12 c_B;
};

PointMotion point_motion(const Data& data) {
  const CoreMotion motion = core_motion(data);
  PointMotion points;
  points.c_A.noalias() = data.X_WA.R * motion.A;
  points.c_A.leftCols<3>() += Matrix3::Identity();
  points.c_A.middleCols<3>(3) -= data.X_WA.R * so3::hat(data.w_A);
  points.c_B.noalias() = data.X_WB.R * motion.B;
  points.c_B.middleCols<3>(6) += Matrix3::Identity();
  points.c_B.middleCols<3>(9) -= data.X_WB.R * so3::hat(data.w_B);
  return points;
}

/// ∂φ/∂(G, h) in units of the program, φ in square metres.
void row_gradient(Data& data) {
  const int n = data.num_variables();
  const int n_A = data.core_A.dimension;
  const double square = data.unit * data.unit;
  const QpSolution& solution = data.solver.solution();
  if (data.smoothed) {
    // ∂φ/∂x = 2 Fᵀv, backwards through the program
    const Vector3 v = data.v / data.unit;
    const Vector3 v_B = data.R_AB.transpose() * v;
    Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::DontAlign, kMaxQpVariables, 1> dl_dx(n);
    for (int k = 0; k < n; ++k) dl_dx[k] = 2.0 * (k < n_A ? v[k] : -v_B[k - n_A]);
    data.sensitivity.backward(dl_dx, data.gradient);
    data.gradient.G() *= square;
    data.gradient.h() *= square;
    return;
  }
  // an optimal value: its multipliers are its derivatives
  data.gradient.resize(n, solution.num_rows());
  for (int i = 0; i < solution.num_rows(); ++i) {
    const double z = data.crossing ? 0.0 : 2.0 * square * solution.z()[i];
    for (int k = 0; k < n; ++k) data.gradient.G()(i, k) = z * solution.x()[k];
    data.gradient.h()[i] = -z;
  }
}

/// Adds the derivatives of a core's rows and radius in its shape's parameters.
void add_parameters(const Data& data, const Core& core, int first_row, int first_variable, VectorX& out) {
  out.setZero(core.set->num_parameters);
  for (const RowDerivative& d : core.set->derivatives) {
    if (d.row >= core.num_rows()) {
      if (d.column == kAlphaColumn) out[d.parameter] -= 2.0 * data.padding() * d.value;
    } else if (d.column == kAlphaColumn) {
      out[d.parameter] += data.gradient.h()[first_row + d.row] * d.value / data.unit;
    } else {
      const int k = first_variable + d.column - core.first_column;
      out[d.parameter] -= data.gradient.G()(first_row + d.row, k) * d.value;
    }
  }
}

}  // namespace

Vector12 proximity_gradient(ProximityWorkspace& workspace) {
  const Data& data = queried(workspace);
  const Vector3 force = 2.0 * (data.X_WA.R * data.v);
  if (data.smoothed) {
    const PointMotion points = point_motion(data);
    return (points.c_A - points.c_B).transpose() * force;
  }
  Vector12 g;
  g << force, 2.0 * data.w_A.cross(data.v), -force, -2.0 * data.w_B.cross(data.R_AB.transpose() * data.v);
  return g;
}

Vector14 proximity_quaternion_gradient(ProximityWorkspace& workspace) {
  const Data& data = queried(workspace);
  return quaternion_form(proximity_gradient(workspace), data.X_WA, data.X_WB);
}

void proximity_parameter_gradient(ProximityWorkspace& workspace, VectorX& d_A, VectorX& d_B) {
  Data& data = queried(workspace);
  if (data.num_variables() > 0) row_gradient(data);
  add_parameters(data, data.core_A, 0, 0, d_A);
  add_parameters(data, data.core_B, data.core_A.num_rows(), data.core_A.dimension, d_B);
}

ProximityJacobian proximity_jacobian(ProximityWorkspace& workspace) {
  const Data& data = queried(workspace);
  const PointMotion points = point_motion(data);
  ProximityJacobian J;
  J.c_A = points.c_A;
  J.c_B = points.c_B;
  // the normal turns with what of c_B - c_A is across it
  if (data.crossing) {
    J.normal.setZero();
  } else {
    const Matrix3x12 apart = (points.c_B - points.c_A) / data.distance;
    J.normal = apart - data.normal * (data.normal.transpose() * apart);
  }
  J.p_A = J.c_A + data.core_A.radius * J.normal;
  J.p_B = J.c_B - data.core_B.radius * J.normal;
  J.unique = !data.crossing && (data.num_variables() == 0 || data.sensitivity.freedom() == 0);
  return J;
}

}  // namespace tangere
