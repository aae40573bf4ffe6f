#include "tangere/contact/hard/lcp_derivatives.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tangere/contact/hard/internal/row_motion.hpp"
#include "tangere/contact/hard/least_squares.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {
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
    const BodyRows& pair = problem.pairs[block.pair];
    Vector6 wrench;
    wrench << impulse.force, cross(pair.origin + block.x, impulse.force) + impulse.torque;
    wrench /= dt;
    if (wrench.isZero(0.0)) continue;
    pushed_ = true;
    if (pair.body_A >= 0) wrenches_[pair.body_A] -= wrench;
    if (pair.body_B >= 0) wrenches_[pair.body_B] += wrench;
  }

  acceleration_ = (step.v_plus - step.v) / dt;
  for (const int k : step.floating_dofs)
    acceleration_.segment<3>(k) -= step.v.segment<3>(k + 3).cross(step.v.segment<3>(k));
  const InverseDynamicsDerivatives derivatives =
      inverse_dynamics_derivatives(model, data, step.q, step.v_inertial, acceleration_, wrenches());
  factor_mass_matrix(model, data, step.implicit_inertia);
  ScratchMatrix::View r_q = r_q_.reset(model.nv(), model.nv());
  ScratchMatrix::View r_v = r_v_.reset(model.nv(), model.nv());
  r_q = dt * derivatives.d_q;
  r_q.diagonal() -= problem.time_step * step.tau_q;
  if (impact) return;
  r_v = dt * derivatives.d_v;
  r_v.diagonal() -= dt * (step.tau_v - step.implicit_damping);
}

/// A and K.
void LcpDerivatives::factor_rows(const Model& model, const Data& data, const SolvedStep& step) {
  const Eigen::Index nv = model.nv();
  const auto count = static_cast<Eigen::Index>(compliances_.size());
  ScratchMatrix::View Z = MinvN_.reset(nv, count);
  Z = N_.view().transpose();
  solve_mass_matrix_columns(model, data, MinvN_.row(0), MinvN_.width(), static_cast<int>(count));
  ScratchMatrix::View A = A_.reset(count, count);
  A.noalias() = J_.view() * Z;
  transposed_.resize(static_cast<int>(count));
  scale_.resize(static_cast<std::size_t>((count + 7) / 8 * 8));
  straight_factors_ = Factors::none;
  for (Eigen::Index i = 0; i < count; ++i) {
    A(i, i) += compliances_[i];
    scale_[i] = A.col(i).cwiseAbs().maxCoeff();
  }
  for (Eigen::Index i = 0; i < count; ++i) std::copy_n(A_.row(i), count, transposed_.column(static_cast<int>(i)));
  transposed_.pad();
  ScratchMatrix::View K = K_.reset(nv, count);
  K = Z;
  by_inverse_ = step.problem.redundancy == Redundancy::least_squares;
  if (count == 0) return;
  if (by_inverse_) {
    inverse_rows_.reset(count, count) = pseudo_inverse(A);
    K = Z * inverse_rows_.view();
    return;
  }
  if (!transposed_.factor_lu(scale_.data())) {
    // cannot be with compliances above 0; if it is, it shall be seen
    K.setConstant(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (Eigen::Index k = 0; k < nv; ++k) transposed_.solve(K_.row(k));
}

void LcpDerivatives::linearise(const Model& model, Data& data, const SolvedStep& step, RowUse use) {
  time_step_ = step.problem.time_step;
  v_ = step.v;
  floating_dofs_.assign(step.floating_dofs.begin(), step.floating_dofs.end());
  choose_rows(model, step);
  reduce_pairs(step, use);
  fill_rows(model, step);
  smooth_terms(model, data, step);
  contact_terms(model, data, step);
  factor_rows(model, data, step);
  with_forces_ = use == RowUse::all;
  find_contradictions(model, data);
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
  for (const int k : floating_dofs_) {
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

/// Factors of A itself, for forces; K has those of its transpose.
void LcpDerivatives::factor_straight() {
  const auto count = static_cast<int>(A_.rows());
  straight_.resize(count);
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j) straight_.column(j)[i] = A_.row(i)[j];
  straight_.pad();
  straight_factors_ = straight_.factor_lu(scale_.data()) ? Factors::ready : Factors::singular;
}

/// A⁻¹ x, in place; x is a row.
void LcpDerivatives::solve_rows(ScratchMatrix& x) {
  if (by_inverse_) {
    product_.reset(x.cols()).noalias() = inverse_rows_.view() * x.view().row(0).transpose();
    x.view().row(0) = product_.view().transpose();
    return;
  }
  if (straight_factors_ == Factors::none) factor_straight();
  if (straight_factors_ == Factors::singular)
    x.view().setConstant(std::numeric_limits<double>::quiet_NaN());
  else
    straight_.solve(x.row(0));
}

/// A⁻ᵀ x, likewise.
void LcpDerivatives::solve_rows_transposed(ScratchMatrix& x) {
  if (by_inverse_) {
    product_.reset(x.cols()).noalias() = inverse_rows_.view().transpose() * x.view().row(0).transpose();
    x.view().row(0) = product_.view().transpose();
  } else {
    transposed_.solve(x.row(0));
  }
}

/// df of all rows, from J_C Y − s_x.
template <class Forces>
void LcpDerivatives::set_forces(ScratchVector::ConstView right, Forces&& df) {
  df.setZero();
  if (right.size() == 0) return;
  df_.reset(1, right.size()) = right.transpose();
  solve_rows(df_);
  const double* df_C = df_.row(0);
  for (std::size_t i = 0; i < clamped_.size(); ++i) df[clamped_[i]] = df_C[i];
  for (const Follower& follower : followers_) df[follower.row] = follower.slope * df_C[follower.normal];
}

ScratchMatrix::ConstView LcpDerivatives::force_derivatives() {
  ScratchMatrix::View out = forces_.reset(static_cast<Eigen::Index>(place_of_row_.size()), right_.cols());
  for (Eigen::Index column = 0; column < out.cols(); ++column) {
    row_scratch_.reset(right_.rows()) = right_.view().col(column);
    set_forces(std::as_const(row_scratch_).view(), out.col(column));
  }
  return std::as_const(forces_).view();
}

/// z += A⁻ᵀ h: with gᵀ dv⁺ + hᵀ df_C = −gᵀ Y + (Kᵀ g + A⁻ᵀ h)ᵀ (J_C Y − s), forces are one more term of z.
void LcpDerivatives::add_force_gradient(VectorArgument g_f) {
  (void)df_.reset(1, J_.rows());
  double* h = df_.row(0);
  for (std::size_t i = 0; i < clamped_.size(); ++i) h[i] = g_f[clamped_[i]];
  for (const Follower& follower : followers_) h[follower.normal] += follower.slope * g_f[follower.row];
  solve_rows_transposed(df_);
  z_.view() += df_.view().transpose();
}

void LcpDerivatives::reverse(const Model& model, const Data& data, VectorArgument g, VectorArgument g_f, VectorX& g_q,
                             VectorX& g_v, VectorX& g_tau) {
  // z = Kᵀ g, y = M⁻¹ (g − J_Cᵀ z)
  z_.reset(J_.rows()).noalias() = K_.view().transpose() * g;
  if (g_f.size() > 0 && J_.rows() > 0) add_force_gradient(g_f);
  y_ = g;
  y_.noalias() -= J_.view().transpose() * z_.view();
  const VectorX& without_inertia = y_;
  // r_v = … − M − dt M d(ω × v)/dv: y meets M, so what is left is g − J_Cᵀ z itself
  g_v = without_inertia;
  for (const int k : floating_dofs_) {
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
                             VectorArgument dtau, VectorX& dv_plus, VectorX* df) {
  // −Y, with the M of r_v taken out
  dv_plus = time_step_ * dtau;
  dv_plus.noalias() -= r_q_.view() * dq;
  dv_plus.noalias() -= r_v_.view() * dv;
  solve_mass_matrix(model, data, dv_plus);
  dv_plus += dv;
  for (const int k : floating_dofs_)
    dv_plus.segment<3>(k) +=
        time_step_ * (v_.segment<3>(k + 3).cross(dv.segment<3>(k)) - v_.segment<3>(k).cross(dv.segment<3>(k + 3)));
  ScratchVector::View right = row_scratch_.reset(J_.rows());
  if (J_.rows() > 0) {
    right.noalias() -= J_.view() * dv_plus;
    right.noalias() -= s_q_.view() * dq;
    right.noalias() -= s_v_.view() * dv;
    dv_plus.noalias() += K_.view() * right;
  }
  if (df == nullptr) return;
  df->resize(static_cast<Eigen::Index>(place_of_row_.size()));
  set_forces(std::as_const(row_scratch_).view(), *df);
}

void LcpDerivatives::respond(const Model& model, const Data& data, const ContactProblem& problem,
                             Eigen::Ref<VectorX> r_x, VectorArgument s_x, ScratchVector* df) {
  ScratchVector::View right = row_scratch_.reset(J_.rows());
  for (std::size_t i = 0; i < clamped_.size(); ++i)
    if (const int solved = solved_of_clamped_[i]; solved >= 0) right[solved] -= s_x[static_cast<Eigen::Index>(i)];
  VectorX& leak = leak_;
  leak.setZero(model.nv());
  for (const ReducedPair& reduced : reduced_) {
    Vector6 wrench = Vector6::Zero();
    for (int i = 0; i < reduced.count; ++i) {
      const double s = s_x[reduced.first + i];
      right.segment(reduced.solved, reduced.rows.rank) -= s * reduction_.share(reduced.rows, i).head(reduced.rows.rank);
      wrench += s * reduction_.leak(reduced.rows, i);
    }
    if (reduced.rows.leaks) add_wrench(model, data, problem.pairs[reduced.pair], wrench, leak);
  }
  solve_mass_matrix(model, data, r_x);
  r_x = -r_x;
  if (J_.rows() > 0) {
    right.noalias() -= J_.view() * r_x;
    if (leaks_) solve_mass_matrix(model, data, leak);
    if (!contradicts_ && explodes(leak.head(leaks_ ? leak.size() : 0), right, r_x)) make_consistent(model, data);
    if (leaks_ && !contradicts_) {
      r_x -= leak;
      right.noalias() += J_.view() * leak;
    }
    r_x.noalias() += K_.view() * right;
  }
  if (df == nullptr) return;
  set_forces(std::as_const(row_scratch_).view(), df->reset(static_cast<Eigen::Index>(place_of_row_.size())));
}

}  // namespace tangere
