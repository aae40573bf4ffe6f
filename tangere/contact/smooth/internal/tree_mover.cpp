#include "tangere/contact/smooth/internal/tree_mover.hpp"

#include <Eigen/Geometry>

#include "tangere/contact/smooth/free_mover.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/links.hpp"

namespace tangere {
TreeMover::TreeMover(const Model& model, const CoordinateUnits& units, std::vector<int> dofs)
    : model_(model), units_(units), data_(model), velocities_(model), dofs_(std::move(dofs)) {
  places_.assign(static_cast<std::size_t>(model.nv()), -1);
  for (std::size_t i = 0; i < dofs_.size(); ++i) places_[dofs_[i]] = static_cast<int>(i);
  for (const Joint& joint : model.joints()) {
    if (joint.nq == joint.nv || place(joint.first_v) < 0) continue;
    Turning turn;
    turn.angular = joint.first_v + joint.nv - 3;
    if (joint.nv == 6) turn.linear = joint.first_v;
    turning_.push_back(turn);
  }
  v.setZero(model.nv());
  v_saved = v;
  v_next = v;
  v_free_ = v;
  step_ = v;
  q_.setZero(model.nq());
  q_next = q_;
  M_.setZero(size(), size());
  scratch_.setZero(model.nv());
}

void TreeMover::begin(VectorArgument q, const MatrixX& M, VectorArgument diagonal, VectorArgument v_free,
                      double time_step) {
  time_step_ = time_step;
  q_ = q;
  v_free_ = v_free;
  v.setZero();
  for (int i = 0; i < size(); ++i) {
    const int row = dofs_[i];
    for (int j = 0; j < size(); ++j) M_(i, j) = M(row, dofs_[j]);
    M_(i, i) += diagonal[row];
  }
}

void TreeMover::update() {
  step_ = time_step_ * v;
  for (Turning& turn : turning_) {
    const Vector3 phi = step_.segment<3>(turn.angular);
    turn.D = cayley_right_jacobian(phi);
    const Vector3 d = cayley_logarithm(phi);
    turn.X = so3::exp(d);
    step_.segment<3>(turn.angular) = d;
  }
  integrate(model_, q_, step_, q_next);
  v_next = v;
  for (const Turning& turn : turning_)
    if (turn.linear >= 0) v_next.segment<3>(turn.linear) = turn.X.transpose() * v.segment<3>(turn.linear);
  forward_kinematics(model_, data_, q_next);
  velocities_.set(model_, data_, v_next);
}

void TreeMover::residual(double* r) const {
  for (int i = 0; i < size(); ++i) {
    double sum = 0.0;
    for (int j = 0; j < size(); ++j) {
      const int dof = dofs_[j];
      sum += M_(i, j) * (v[dof] - v_free_[dof]);
    }
    r[i] = sum / units_.momentum(dofs_[i]);
  }
}

void TreeMover::add_matrix(double* S, std::ptrdiff_t width) const {
  for (int i = 0; i < size(); ++i) {
    const double unit = 1.0 / units_.momentum(dofs_[i]);
    for (int j = 0; j < size(); ++j) S[i * width + j] += M_(i, j) * unit * units_.velocity(dofs_[j]);
  }
}

void TreeMover::momentum(const double* y, double* out) const {
  for (int i = 0; i < size(); ++i) {
    out[i] = 0.0;
    for (int j = 0; j < size(); ++j) out[i] += M_(i, j) * y[j];
  }
}

void TreeMover::add_force(int body, const Vector3& x, const Vector6& W, double sign, double* r) {
  const std::span<const int> way = way_of(model_, body);
  way_forces(model_, data_, body, x, W, scratch_.data());
  for (const Turning& turn : turning_) {
    if (turn.linear < 0) continue;
    for (std::size_t k = 0; k < way.size(); ++k)
      if (way[k] == turn.linear) {
        const Vector3 turned = turn.X * scratch_.segment<3>(static_cast<Eigen::Index>(k));
        scratch_.segment<3>(static_cast<Eigen::Index>(k)) = turned;
        break;
      }
  }
  for (std::size_t k = 0; k < way.size(); ++k)
    r[place(way[k])] += sign * scratch_[static_cast<Eigen::Index>(k)] / units_.momentum(way[k]);
}

void TreeMover::columns(int body, const Vector3& x, const Vector6& W, const Units& unit, Columns& out) {
  const std::span<const int> way = way_of(model_, body);
  const int n = static_cast<int>(way.size());
  out.count = n;
  if (out.xi.cols() < n) {
    for (Matrix6X* matrix : {&out.xi, &out.U, &out.force, &out.xi_q, &out.U_q}) matrix->setZero(6, n);
    out.turning.setZero(n, n);
    out.turning_q.setZero(n, n);
  }
  auto S = out.xi_q.leftCols(n);
  way_columns(model_, data_, body, x, S);
  velocities_.twist_derivatives(model_, data_, body, x, out.U_q.leftCols(n));

  // forces: moving q⁺ along j carries the motions of its own link and of all beyond by S_j, [S_j, S_k] · W
  const Links& links = model_.links();
  const Vector3 F = W.head<3>();
  const Vector3 torque = W.tail<3>();
  for (int k = 0; k < n; ++k) {
    const int link = links.link_of_dof[way[k]];
    const Vector3 linear = S.col(k).head<3>();
    const Vector3 angular = S.col(k).tail<3>();
    Vector6 by_S;
    by_S << angular.cross(F), linear.cross(F) + angular.cross(torque);
    for (int j = 0; j < n; ++j) {
      // on one way, links are numbered from the root
      const bool carried = links.link_of_dof[way[j]] <= link;
      out.turning_q(k, j) = carried ? by_S.dot(S.col(j)) : 0.0;
    }
  }

  // from q⁺ and v' to v⁺
  const double dt = time_step_;
  auto xi = out.xi.leftCols(n);
  auto U = out.U.leftCols(n);
  auto force = out.force.leftCols(n);
  auto turning = out.turning.topLeftCorner(n, n);
  for (int k = 0; k < n; ++k) {
    const Vector6 own = S.col(k);
    xi.col(k) = dt * own;
    U.col(k) = own + dt * out.U_q.col(k);
    force.col(k) = own;
    for (int j = 0; j < n; ++j) turning(j, k) = dt * out.turning_q(j, k);
  }
  for (const Turning& turn : turning_) {
    int at = 0;
    while (at < n && way[at] != turn.angular) ++at;
    if (at == n) continue;
    using SixByThree = Eigen::Matrix<double, 6, 3>;
    const SixByThree S_a = S.middleCols<3>(at);
    const SixByThree U_a = out.U_q.middleCols<3>(at);
    const Matrix3 D = dt * turn.D;
    xi.middleCols<3>(at).noalias() = S_a * D;
    U.middleCols<3>(at) = S_a + U_a * D;
    for (int k = 0; k < n; ++k) {
      const Eigen::RowVector3d row = out.turning_q.block<1, 3>(k, at);
      turning.block<1, 3>(k, at).noalias() = row * D;
    }
    if (turn.linear < 0) continue;
    const int l = at - 3;
    const Matrix3 Xt = turn.X.transpose();
    const SixByThree S_l = S.middleCols<3>(l);
    const SixByThree U_l = out.U_q.middleCols<3>(l);
    xi.middleCols<3>(l).noalias() = dt * S_l * Xt;
    U.middleCols<3>(l) = (S_l + dt * U_l) * Xt;
    U.middleCols<3>(at) += S_l * (so3::hat(v_next.segment<3>(turn.linear)) * D);
    force.middleCols<3>(l).noalias() = S_l * Xt;
    for (int k = 0; k < n; ++k) {
      const Eigen::RowVector3d row = turning.block<1, 3>(k, l);
      turning.block<1, 3>(k, l).noalias() = row * Xt;
    }
    // rows of the linear coordinates: X g', and X turns
    const Vector3 g = S_l.transpose() * W;
    turning.block<3, 3>(l, at) -= so3::hat(g) * D;
    for (int j = 0; j < n; ++j) {
      const Vector3 column = turning.block<3, 1>(l, j);
      turning.block<3, 1>(l, j).noalias() = turn.X * column;
    }
  }

  // units
  const double inverse_length = 1.0 / unit.length;
  const double inverse_speed = 1.0 / unit.speed;
  for (int k = 0; k < n; ++k) {
    const int dof = way[k];
    const double velocity = units_.velocity(dof);
    const double momentum = 1.0 / units_.momentum(dof);
    xi.col(k).head<3>() *= velocity * inverse_length;
    xi.col(k).tail<3>() *= velocity;
    U.col(k).head<3>() *= velocity * inverse_speed;
    U.col(k).tail<3>() *= velocity * inverse_speed * unit.length;
    force.col(k).head<3>() *= momentum * unit.impulse();
    force.col(k).tail<3>() *= momentum * unit.impulse() * unit.length;
    for (int j = 0; j < n; ++j) {
      turning(j, k) *= velocity;
      turning(k, j) *= momentum;
    }
  }
}

void TreeMover::turning_by_next(int body, const Columns& columns, MatrixX& out) const {
  const std::span<const int> way = way_of(model_, body);
  const int n = columns.count;
  out = columns.turning_q.topLeftCorner(n, n);
  for (const Turning& turn : turning_) {
    if (turn.linear < 0) continue;
    for (int k = 0; k < n; ++k)
      if (way[k] == turn.linear)
        for (int j = 0; j < n; ++j) {
          const Vector3 rows = out.block<3, 1>(k, j);
          out.block<3, 1>(k, j) = turn.X * rows;
        }
  }
  for (int k = 0; k < n; ++k) out.row(k) /= units_.momentum(way[k]);
}

}  // namespace tangere
