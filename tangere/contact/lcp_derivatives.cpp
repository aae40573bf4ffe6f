#include "tangere/contact/lcp_derivatives.hpp"

#include <algorithm>
#include <limits>

#include <Eigen/Geometry>

#include "tangere/contact/least_squares.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {
namespace {

using Matrix6x12 = Eigen::Matrix<double, 6, 12, Eigen::RowMajor | Eigen::DontAlign>;

Vector3 cross(const Vector3& a, const Vector3& b) { return a.cross(b); }

/// From twists about the place x to twists about the pair's origin: at x, v + w × x.
template <class Rows>
Rows about_origin(const Rows& about_place, const Vector3& x) {
  Rows out = about_place;
  const Matrix3 X = so3::hat(x);
  for (const int k : {0, 6}) out.template middleCols<3>(k + 3) -= about_place.template middleCols<3>(k) * X;
  return out;
}

/// The impulse of a block on B: force and torque, world axes.
struct Impulse {
  Vector3 force = Vector3::Zero();
  Vector3 torque = Vector3::Zero();
};

Impulse impulse_of(const ContactProblem& problem, const RowBlock& block, const ScratchVector& f) {
  Impulse out;
  for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
    const int axis = problem.rows[static_cast<std::size_t>(r)].axis;
    (axis < 3 ? out.force : out.torque) += f[r] * block.D.col(axis % 3);
  }
  return out;
}

/// At a velocity: how the velocity of row `axis` changes as the place and the frame move, a column a direction.
template <int Columns>
Eigen::Matrix<double, 1, Columns> row_motion(const RowBlock& block, int axis, const Vector6& V,
                                             const Eigen::Matrix<double, 3, Columns>& place,
                                             const Eigen::Matrix<double, 3, Columns>& turn) {
  const Vector3 along = block.D.col(axis % 3);
  const Vector3 w = V.tail<3>();
  // along · (w × dp − dθ × u) and along · (− dθ × w)
  if (axis >= 3) return cross(along, w).transpose() * turn;
  const Vector3 u = V.head<3>() + cross(w, block.x);
  return cross(along, w).transpose() * place + cross(along, u).transpose() * turn;
}

/// The covector that reads a row's velocity from a twist about the pair's origin.
Vector6 row_reader(const RowBlock& block, int axis) {
  const Vector3 along = block.D.col(axis % 3);
  Vector6 out;
  if (axis >= 3)
    out << Vector3::Zero(), along;
  else
    out << along, cross(block.x, along);
  return out;
}

}  // namespace

/// Clamped rows, J of them, and N: with each clamped normal goes the friction that is at its bound.
void LcpDerivatives::choose_rows(const Model& model, const SolvedStep& step) {
  const ContactProblem& problem = step.problem;
  clamped_.clear();
  place_of_row_.assign(problem.rows.size(), -1);
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    if (step.sets[r] != RowSet::clamped) continue;
    place_of_row_[r] = static_cast<int>(clamped_.size());
    clamped_.push_back(static_cast<int>(r));
  }
  const auto count = static_cast<Eigen::Index>(clamped_.size());
  const ContactProblem::JacobianMap J = problem.jacobian(model.nv());
  ScratchMatrix::View JC = J_.reset(count, model.nv());
  ScratchMatrix::View N = N_.reset(count, model.nv());
  for (Eigen::Index i = 0; i < count; ++i) JC.row(i) = J.row(clamped_[static_cast<std::size_t>(i)]);
  N = JC;
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    const BoxedLcpRow& box = problem.boxes[r];
    if (step.sets[r] == RowSet::clamped || box.normal < 0) continue;
    const int at = place_of_row_[static_cast<std::size_t>(box.normal)];
    if (at < 0) continue;
    const double slope = step.sets[r] == RowSet::upper ? box.friction : -box.friction;
    N.row(at) += slope * J.row(static_cast<Eigen::Index>(r));
  }
}

/// r_q and r_v of the smooth dynamics with the impulses as wrenches fixed in the world.
void LcpDerivatives::smooth_terms(const Model& model, Data& data, const SolvedStep& step) {
  const ContactProblem& problem = step.problem;
  // an impact has no duration: M (v⁺ − v) = Jᵀ f, as if at rest, without gravity and springs (which the model has not)
  const bool impact = problem.time_step == 0.0;
  const double dt = impact ? 1.0 : problem.time_step;
  wrenches_.assign(static_cast<std::size_t>(model.num_bodies()), Vector6::Zero());
  pushed_ = false;
  for (const RowBlock& block : problem.blocks) {
    const Impulse impulse = impulse_of(problem, block, step.f);
    const BodyRows& pair = problem.pairs[static_cast<std::size_t>(block.pair)];
    Vector6 wrench;
    wrench << impulse.force, cross(pair.origin + block.x, impulse.force) + impulse.torque;
    wrench /= dt;
    if (wrench.isZero(0.0)) continue;
    pushed_ = true;
    if (pair.body_A >= 0) wrenches_[static_cast<std::size_t>(pair.body_A)] -= wrench;
    if (pair.body_B >= 0) wrenches_[static_cast<std::size_t>(pair.body_B)] += wrench;
  }

  acceleration_ = (step.v_plus - step.v) / dt;
  if (impact) {
    rest_.setZero(model.nv());
  } else {
    for (const int k : step.free_dofs)
      acceleration_.segment<3>(k) -= step.v.segment<3>(k + 3).cross(step.v.segment<3>(k));
  }
  const InverseDynamicsDerivatives derivatives =
      inverse_dynamics_derivatives(model, data, step.q, impact ? rest_ : step.v, acceleration_, wrenches());
  factor_mass_matrix(model, data, step.implicit_inertia);
  ScratchMatrix::View r_q = r_q_.reset(model.nv(), model.nv());
  ScratchMatrix::View r_v = r_v_.reset(model.nv(), model.nv());
  r_q = dt * derivatives.d_q;
  r_q.diagonal() -= problem.time_step * step.tau_q;
  if (impact) return;
  r_v = dt * derivatives.d_v;
  r_v.diagonal() -= dt * (step.tau_v - step.implicit_damping);
}

/// How places and frames of the rows move: the rest of r_q, and s_q and s_v.
void LcpDerivatives::contact_terms(const Model& model, const Data& data, const SolvedStep& step) {
  const ContactProblem& problem = step.problem;
  const auto count = static_cast<Eigen::Index>(clamped_.size());
  ScratchMatrix::View r_q = r_q_.view();
  ScratchMatrix::View s_q = s_q_.reset(count, model.nv());
  ScratchMatrix::View s_v = s_v_.reset(count, model.nv());
  for (Matrix6X* columns : {&columns_A_, &columns_B_, &rates_A_, &rates_B_})
    if (columns->cols() != model.nv()) columns->setZero(6, model.nv());
  while (velocities_.size() < 2) velocities_.emplace_back(model);
  velocities_[0].set(model, data, step.v_plus);
  velocities_[1].set(model, data, step.v);

  for (std::size_t p = 0, first_block = 0; p < problem.pairs.size(); ++p) {
    const BodyRows& pair = problem.pairs[p];
    const std::span<const int> way_A = way_of(model, pair.body_A);
    const std::span<const int> way_B = way_of(model, pair.body_B);
    const auto length_A = static_cast<Eigen::Index>(way_A.size());
    const auto length_B = static_cast<Eigen::Index>(way_B.size());
    way_columns(model, data, pair.body_A, pair.origin, columns_A_.leftCols(length_A));
    way_columns(model, data, pair.body_B, pair.origin, columns_B_.leftCols(length_B));
    std::size_t last_block = first_block;
    while (last_block < problem.blocks.size() && problem.blocks[last_block].pair == static_cast<int>(p)) ++last_block;

    // rows at v⁺, and those that bounce also at v
    Matrix6x12 dW = Matrix6x12::Zero();
    for (const int old : {0, 1}) {
      const BodyVelocities& velocities = velocities_[static_cast<std::size_t>(old)];
      const Vector6 V = velocities.twist(model, data, pair.body_B, pair.origin) -
                        velocities.twist(model, data, pair.body_A, pair.origin);
      bool rates = false;
      for (std::size_t b = first_block; b < last_block; ++b) {
        const RowBlock& block = problem.blocks[b];
        const FrameMotion& motion = problem.motions[b];
        const Matrix3x12 place = about_origin(motion.point, block.x);
        const Matrix3x12 turn = about_origin(motion.rotation, block.x);
        if (old == 0) {
          const Impulse impulse = impulse_of(problem, block, step.f);
          const Matrix3 F = so3::hat(impulse.force);
          const Matrix3x12 dF = -F * turn;
          dW.topRows<3>() += dF;
          dW.bottomRows<3>() += so3::hat(block.x) * dF - F * place - so3::hat(impulse.torque) * turn;
        }
        for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
          const Row& row = problem.rows[static_cast<std::size_t>(r)];
          const int i = place_of_row_[static_cast<std::size_t>(r)];
          if (i < 0 || (old == 1 && row.restitution == 0.0)) continue;
          if (!rates) {
            velocities.twist_derivatives(model, data, pair.body_A, pair.origin, rates_A_.leftCols(length_A));
            velocities.twist_derivatives(model, data, pair.body_B, pair.origin, rates_B_.leftCols(length_B));
            rates = true;
          }
          const double factor = old == 0 ? 1.0 : row.restitution;
          Eigen::Matrix<double, 1, 12> moved = factor * row_motion<12>(block, row.axis, V, place, turn);
          if (old == 0 && row.kind == RowKind::normal && row.gain != 0.0)
            moved += row.gain * about_origin(Eigen::Matrix<double, 1, 12>(motion.distance.transpose()), block.x);
          const Vector6 reader = factor * row_reader(block, row.axis);
          for (Eigen::Index k = 0; k < length_A; ++k)
            s_q(i, way_A[static_cast<std::size_t>(k)]) +=
                moved.head<6>().dot(columns_A_.col(k)) - reader.dot(rates_A_.col(k));
          for (Eigen::Index k = 0; k < length_B; ++k)
            s_q(i, way_B[static_cast<std::size_t>(k)]) +=
                moved.tail<6>().dot(columns_B_.col(k)) + reader.dot(rates_B_.col(k));
          if (old == 1) s_v.row(i) += row.restitution * J_.view().row(i);
        }
      }
    }

    // r_q −= (J_B − J_A)ᵀ dW (J_A, J_B)
    for (const int side : {0, 1}) {
      const std::span<const int> way = side == 0 ? way_A : way_B;
      const Matrix6X& columns = side == 0 ? columns_A_ : columns_B_;
      for (std::size_t k = 0; k < way.size(); ++k) {
        const Vector6 change = dW.middleCols<6>(6 * side) * columns.col(static_cast<Eigen::Index>(k));
        for (std::size_t j = 0; j < way_A.size(); ++j)
          r_q(way_A[j], way[k]) += columns_A_.col(static_cast<Eigen::Index>(j)).dot(change);
        for (std::size_t j = 0; j < way_B.size(); ++j)
          r_q(way_B[j], way[k]) -= columns_B_.col(static_cast<Eigen::Index>(j)).dot(change);
      }
    }
    first_block = last_block;
  }

  // targets of the other rows: −gain φ, dφ = J dq
  const ContactProblem::JacobianMap J = problem.jacobian(model.nv());
  for (Eigen::Index i = 0; i < count; ++i) {
    const int r = clamped_[static_cast<std::size_t>(i)];
    const Row& row = problem.rows[static_cast<std::size_t>(r)];
    if (row.gain == 0.0 || row.kind == RowKind::normal) continue;
    if (row.kind == RowKind::weld && row.axis >= 3) {
      const RowBlock& block = problem.blocks[static_cast<std::size_t>(row.block)];
      for (int l = 0; l < 3; ++l)
        s_q.row(i) += row.gain * block.angular_gap(row.axis - 3, l) * J.row(block.first_row + 3 + l);
    } else {
      s_q.row(i) += row.gain * J.row(r);
    }
  }
}

/// A and K.
void LcpDerivatives::factor_rows(const Model& model, const Data& data, const SolvedStep& step) {
  const Eigen::Index nv = model.nv();
  const auto count = static_cast<Eigen::Index>(clamped_.size());
  ScratchMatrix::View Z = MinvN_.reset(nv, count);
  Z = N_.view().transpose();
  solve_mass_matrix_columns(model, data, MinvN_.row(0), MinvN_.width(), static_cast<int>(count));
  ScratchMatrix::View A = A_.reset(count, count);
  A.noalias() = J_.view() * Z;
  transposed_.resize(static_cast<int>(count));
  scale_.resize(static_cast<std::size_t>((count + 7) / 8 * 8));
  for (Eigen::Index i = 0; i < count; ++i) {
    A(i, i) += step.problem.boxes[static_cast<std::size_t>(clamped_[static_cast<std::size_t>(i)])].compliance;
    scale_[static_cast<std::size_t>(i)] = A.col(i).cwiseAbs().maxCoeff();
  }
  for (Eigen::Index i = 0; i < count; ++i) std::copy_n(A_.row(i), count, transposed_.column(static_cast<int>(i)));
  transposed_.pad();
  ScratchMatrix::View K = K_.reset(nv, count);
  K = Z;
  if (count == 0) return;
  least_squares_ = step.problem.redundancy == Redundancy::least_squares;
  if (least_squares_) {
    inverse_ = pseudo_inverse(A);
    K = Z * inverse_;
    return;
  }
  if (!transposed_.factor_lu(scale_.data())) {
    // cannot be with compliances above 0; if it is, it shall be seen
    K.setConstant(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (Eigen::Index k = 0; k < nv; ++k) transposed_.solve(K_.row(k));
}

void LcpDerivatives::linearise(const Model& model, Data& data, const SolvedStep& step) {
  time_step_ = step.problem.time_step;
  v_ = step.v;
  free_dofs_.assign(step.free_dofs.begin(), step.free_dofs.end());
  choose_rows(model, step);
  smooth_terms(model, data, step);
  contact_terms(model, data, step);
  factor_rows(model, data, step);
}

void LcpDerivatives::expand(const Model& model, const Data& data) {
  const Eigen::Index nv = model.nv();
  ScratchMatrix::View Y = Y_.reset(nv, 3 * nv);
  Y.leftCols(nv) = r_q_.view();
  Y.middleCols(nv, nv) = r_v_.view();
  Y.rightCols(nv).setIdentity();
  solve_mass_matrix_columns(model, data, Y_.row(0), Y_.width(), static_cast<int>(3 * nv));
  // r_v has −M, and −dt M d(ω × v)/dv of the free joints
  Y.middleCols(nv, nv).diagonal().array() -= 1.0;
  for (const int k : free_dofs_) {
    Y.block<3, 3>(k, nv + k) -= time_step_ * so3::hat(v_.segment<3>(k + 3));
    Y.block<3, 3>(k, nv + k + 3) += time_step_ * so3::hat(v_.segment<3>(k));
  }
  Y.rightCols(nv) *= -time_step_;  // r_τ = −dt

  ScratchMatrix::View right = right_.reset(J_.rows(), 3 * nv);
  if (J_.rows() > 0) {
    right.noalias() = J_.view() * Y;
    right.leftCols(nv) -= s_q_.view();
    right.middleCols(nv, nv) -= s_v_.view();
    Y.noalias() -= K_.view() * right;
  }
  d_q_.reset(nv, nv) = -Y.leftCols(nv);
  d_v_.reset(nv, nv) = -Y.middleCols(nv, nv);
  d_tau_.reset(nv, nv) = -Y.rightCols(nv);
}

void LcpDerivatives::force_derivatives(MatrixX& df_dq, MatrixX& df_dv, MatrixX& df_dtau) {
  const Eigen::Index nv = d_q_.rows();
  const Eigen::Index count = J_.rows();
  for (MatrixX* out : {&df_dq, &df_dv, &df_dtau}) out->setZero(count, nv);
  if (count == 0) return;
  if (least_squares_) {
    const MatrixX df = inverse_ * right_.view();
    df_dq = df.leftCols(nv);
    df_dv = df.middleCols(nv, nv);
    df_dtau = df.rightCols(nv);
    return;
  }
  straight_.resize(static_cast<int>(count));
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j) straight_.column(static_cast<int>(j))[i] = A_.view()(i, j);
  straight_.pad();
  if (!straight_.factor_lu(scale_.data())) return;
  AlignedVector x(static_cast<std::size_t>((count + 7) / 8 * 8));
  for (Eigen::Index column = 0; column < 3 * nv; ++column) {
    std::fill(x.begin(), x.end(), 0.0);
    for (Eigen::Index i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = right_.view()(i, column);
    straight_.solve(x.data());
    MatrixX& out = column < nv ? df_dq : column < 2 * nv ? df_dv : df_dtau;
    for (Eigen::Index i = 0; i < count; ++i) out(i, column % nv) = x[static_cast<std::size_t>(i)];
  }
}

void LcpDerivatives::reverse(const Model& model, const Data& data, VectorArgument g, VectorX& g_q, VectorX& g_v,
                             VectorX& g_tau) {
  // z = Kᵀ g, y = M⁻¹ (g − J_Cᵀ z)
  z_.reset(J_.rows()).noalias() = K_.view().transpose() * g;
  y_ = g;
  y_.noalias() -= J_.view().transpose() * z_.view();
  const VectorX& without_inertia = y_;
  // r_v = … − M − dt M d(ω × v)/dv: y meets M, so what is left is g − J_Cᵀ z itself
  g_v = without_inertia;
  for (const int k : free_dofs_) {
    const Vector3 linear = without_inertia.segment<3>(k);
    g_v.segment<3>(k) += time_step_ * so3::hat(v_.segment<3>(k + 3)).transpose() * linear;
    g_v.segment<3>(k + 3) -= time_step_ * so3::hat(v_.segment<3>(k)).transpose() * linear;
  }
  solve_mass_matrix(model, data, y_);
  g_q.setZero(model.nv());
  g_q.noalias() -= r_q_.view().transpose() * y_;
  g_v.noalias() -= r_v_.view().transpose() * y_;
  if (J_.rows() > 0) {
    g_q.noalias() -= s_q_.view().transpose() * z_.view();
    g_v.noalias() -= s_v_.view().transpose() * z_.view();
  }
  g_tau = time_step_ * y_;
}

void LcpDerivatives::forward(const Model& model, const Data& data, VectorArgument dq, VectorArgument dv,
                             VectorArgument dtau, VectorX& dv_plus) {
  // −Y, with the M of r_v taken out
  dv_plus = time_step_ * dtau;
  dv_plus.noalias() -= r_q_.view() * dq;
  dv_plus.noalias() -= r_v_.view() * dv;
  solve_mass_matrix(model, data, dv_plus);
  dv_plus += dv;
  for (const int k : free_dofs_)
    dv_plus.segment<3>(k) +=
        time_step_ * (v_.segment<3>(k + 3).cross(dv.segment<3>(k)) - v_.segment<3>(k).cross(dv.segment<3>(k + 3)));
  if (J_.rows() == 0) return;
  ScratchVector::View right = row_scratch_.reset(J_.rows());
  right.noalias() -= J_.view() * dv_plus;
  right.noalias() -= s_q_.view() * dq;
  right.noalias() -= s_v_.view() * dv;
  dv_plus.noalias() += K_.view() * right;
}

void LcpDerivatives::displace(const Model& model, const Data& data, const SolvedStep& step,
                              const Displacement& displacement, Eigen::Ref<VectorX> r_x, VectorX& s_x) {
  const ContactProblem& problem = step.problem;
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const RowBlock& block = problem.blocks[b];
    const BodyRows& pair = problem.pairs[static_cast<std::size_t>(block.pair)];
    // everything about the place itself
    const Vector3 place = pair.origin + block.x;
    RowBlock here = block;
    here.x.setZero();
    Vector12 moved;
    moved << displacement.shapes(block, 0, place), displacement.shapes(block, 1, place);
    const FrameMotion& motion = problem.motions[b];
    const FrameChange change = displacement.change ? displacement.change(block) : FrameChange{};
    const Vector3 dp = motion.point * moved + change.point;
    const Vector3 dtheta = motion.rotation * moved + change.rotation;

    // r_x −= (J_B − J_A)ᵀ dW
    const Impulse impulse = impulse_of(problem, block, step.f);
    const Vector3 dF = cross(dtheta, impulse.force);
    Vector6 dW;
    dW << dF, cross(dp, impulse.force) + cross(dtheta, impulse.torque);
    for (const int side : {0, 1}) {
      const int body = side == 0 ? pair.body_A : pair.body_B;
      const std::span<const int> way = way_of(model, body);
      const auto length = static_cast<Eigen::Index>(way.size());
      way_columns(model, data, body, place, columns_A_.leftCols(length));
      for (Eigen::Index k = 0; k < length; ++k)
        r_x[way[static_cast<std::size_t>(k)]] -= (side == 0 ? -1.0 : 1.0) * columns_A_.col(k).dot(dW);
    }

    for (int r = block.first_row; r < block.first_row + block.num_rows; ++r) {
      const Row& row = problem.rows[static_cast<std::size_t>(r)];
      const int i = place_of_row(r);
      if (i < 0) continue;
      const Vector6 reader = row_reader(here, row.axis);
      for (const int old : {0, 1}) {
        const double factor = old == 0 ? 1.0 : row.restitution;
        if (factor == 0.0) continue;
        const BodyVelocities& velocities = velocities_[static_cast<std::size_t>(old)];
        const Vector6 V =
            velocities.twist(model, data, pair.body_B, place) - velocities.twist(model, data, pair.body_A, place);
        const Vector6 dV =
            displacement.twist(pair.body_B, place, velocities) - displacement.twist(pair.body_A, place, velocities);
        s_x[i] += factor * (row_motion<1>(here, row.axis, V, dp, dtheta)[0] + reader.dot(dV));
      }
      if (row.gain == 0.0) continue;
      const Vector6 relative = moved.tail<6>() - moved.head<6>();
      if (row.kind == RowKind::normal) {
        s_x[i] += row.gain * (motion.distance.dot(moved) + change.distance);
      } else if (row.kind == RowKind::weld && row.axis >= 3) {
        for (int l = 0; l < 3; ++l)
          s_x[i] += row.gain * block.angular_gap(row.axis - 3, l) * row_reader(here, 3 + l).dot(relative);
      } else {
        s_x[i] += row.gain * reader.dot(relative);
      }
    }
  }
}

void LcpDerivatives::respond(const Model& model, const Data& data, Eigen::Ref<VectorX> r_x, VectorArgument s_x) {
  solve_mass_matrix(model, data, r_x);
  r_x = -r_x;
  if (J_.rows() == 0) return;
  ScratchVector::View right = row_scratch_.reset(J_.rows());
  right.noalias() -= J_.view() * r_x;
  right -= s_x;
  r_x.noalias() += K_.view() * right;
}

}  // namespace tangere
