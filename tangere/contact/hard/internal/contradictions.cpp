/// Clamped rows that contradict each other (lcp_derivatives.hpp).
///
/// With b = J Y − s, what rows ask as a variable moves, dv⁺ = −Y + K b is bounded as the compliance C goes to zero only
/// if motions can give it: b in the range of J. Else forces are (b − J dv)/C, of the size of the inverse compliance.
/// Without friction at its bound N is Jᵀ and they move nothing, and what is left is the nearest motion,
///
///   P b,   P = S (S + C)⁻¹,   S = J M⁻¹ Jᵀ
///
/// the projection to the range of J in the norm of C⁻¹. With such friction forces of the size of the inverse compliance
/// do move the bodies: the step really has that slope, up to the next change of sets some 1e-8 away. How the derivative
/// changes with the compliance's logarithm tells it from all others,
///
///   −K C A⁻¹ b = −K (b − J K b)
///
/// which is of the size of the derivative there and of the size of C elsewhere. The derivative is then K P b, which on
/// consistent b is K b. Leaks of reduced pairs (row_reduction.hpp) are such forces already, and are left out.

#include <cmath>

#include <Eigen/Cholesky>

#include "tangere/contact/hard/lcp_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {
namespace {

/// The part of a derivative that may be the compliance's.
constexpr double kOfCompliance = 0.1;
/// Relative compliances above this are meant: the step is that of soft contact, which has no such slopes.
constexpr double kSoft = 1e-4;
/// Coordinates that move less than this part of the fastest are at rest: what the compliance lets them move is nothing.
constexpr double kAtRest = 1e-2;

/// A vector with entries of either sign, none of them small and none in a simple ratio to another.
double spread(Eigen::Index k) {
  const double turn = 0.6180339887498949 * static_cast<double>(k + 1);
  const double part = turn - std::floor(turn);
  return k % 2 == 0 ? 0.5 + part : -0.5 - part;
}

}  // namespace

/// Whether the compliance decides the answer to `right`, what rows ask beyond the motion −Y of the smooth dynamics;
/// `leak` is M⁻¹ times what reduced pairs leak (empty if nothing does).
bool LcpDerivatives::explodes(VectorArgument leak, VectorArgument right, VectorArgument smooth) {
  for (Eigen::Index i = 0; i < right.size(); ++i)
    if (compliances_[i] > kSoft * scale_[i]) return false;
  const auto K = K_.view();
  const auto J = J_.view();
  ScratchVector::View b = probe_right_.reset(right.size());
  b = right;
  answer_ = smooth;
  by_compliance_.setZero(smooth.size());
  if (leak.size() > 0) {
    ScratchVector::View stopped = probe_miss_.reset(right.size());
    stopped.noalias() = J * leak;
    b += stopped;
    answer_ -= leak;
    by_compliance_ = leak;
    by_compliance_.noalias() -= K * stopped;
  }
  answer_.noalias() += K * b;
  ScratchVector::View miss = probe_miss_.reset(right.size());
  probe_answer_.noalias() = K * b;
  miss = b;
  miss.noalias() -= J * probe_answer_;
  by_compliance_.noalias() -= K * miss;

  const auto size_of = [&](Eigen::Index k) { return std::abs(answer_[k]) + std::abs(smooth[k]); };
  double fastest = 0.0;
  for (Eigen::Index k = 0; k < smooth.size(); ++k) fastest = std::max(fastest, size_of(k));
  for (Eigen::Index k = 0; k < smooth.size(); ++k)
    if (std::abs(by_compliance_[k]) > kOfCompliance * (size_of(k) + kAtRest * fastest)) return true;
  if (!with_forces_) return false;

  // forces of the size of b / C, where b / A would do
  df_.reset(1, right.size()).row(0) = b.transpose();
  solve_rows(df_);
  double given = 0.0;
  double asked = 0.0;
  for (Eigen::Index i = 0; i < right.size(); ++i) {
    const double df = df_.row(0)[i];
    given += compliances_[i] * df * df;
    asked += b[i] * b[i] / scale_[i];
  }
  return given > asked;
}

/// Some motion of all coordinates tells whether rows contradict each other in any, and some change of all velocities.
void LcpDerivatives::find_contradictions(const Model& model, const Data& data) {
  contradicts_ = false;
  if (J_.rows() == 0 || by_inverse_) return;
  if (with_forces_ || leaks_ || !followers_.empty()) {
    const Eigen::Index nv = model.nv();
    dq_.resize(nv);
    for (Eigen::Index k = 0; k < nv; ++k) dq_[k] = spread(k);
    for (const bool of_velocity : {false, true}) {
      ScratchVector::View right = row_scratch_.reset(J_.rows());
      y_.setZero(nv);
      const bool leaks = leaks_ && !of_velocity;
      if (of_velocity)
        y_.noalias() -= r_v_.view() * dq_;
      else
        y_.noalias() -= r_q_.view() * dq_;
      solve_mass_matrix(model, data, y_);
      if (of_velocity) y_ += dq_;
      right.noalias() -= J_.view() * y_;
      right.noalias() -= (of_velocity ? s_v_ : s_q_).view() * dq_;
      leak_.setZero(nv);
      if (leaks) {
        leak_.noalias() += leak_q_.view() * dq_;
        solve_mass_matrix(model, data, leak_);
      }
      if (!explodes(leak_.head(leaks ? nv : 0), right, y_)) continue;
      make_consistent(model, data);
      return;
    }
  }
  if (leaks_) r_q_.view() += leak_q_.view();
}

/// K P² and A⁻¹ P² for K and A⁻¹. P twice, since its rounding is divided by the compliance.
void LcpDerivatives::make_consistent(const Model& model, const Data& data) {
  contradicts_ = true;
  const Eigen::Index count = J_.rows();
  ScratchMatrix::View Z = projection_.reset(model.nv(), count);
  Z = J_.view().transpose();
  solve_mass_matrix_columns(model, data, projection_.row(0), projection_.width(), static_cast<int>(count));
  Eigen::Map<MatrixX> S(softened_.reset(count * count).data(), count, count);
  S.noalias() = J_.view() * Z;
  for (Eigen::Index i = 0; i < count; ++i) S(i, i) += compliances_[i];
  const Eigen::LLT<Eigen::Ref<MatrixX>> factors(S);
  // x P = x − ((S + C)⁻¹ C xᵀ)ᵀ
  const auto project = [&](ScratchMatrix& rows) {
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
      Eigen::Map<VectorX> x(rows.row(k), count);
      for (int twice = 0; twice < 2; ++twice) {
        ScratchVector::View given = probe_right_.reset(count);
        for (Eigen::Index i = 0; i < count; ++i) given[i] = compliances_[i] * x[i];
        factors.solveInPlace(given);
        x -= given;
      }
    }
  };
  project(K_);
  if (!with_forces_) return;
  // rows of A⁻¹ are columns of A⁻ᵀ
  (void)inverse_rows_.reset(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    df_.reset(1, count)(0, i) = 1.0;
    solve_rows_transposed(df_);
    inverse_rows_.view().row(i) = df_.view().row(0);
  }
  project(inverse_rows_);
  by_inverse_ = true;
}

}  // namespace tangere
