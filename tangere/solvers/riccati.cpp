#include "tangere/solvers/riccati.hpp"

#include <Eigen/Cholesky>

/// With V and v of the next stage and w = v + V d:
///
///   Q̂uu = Quu + BᵀVB + regularisation     Q̂ux = Qux + BᵀVA     q̂u = qu + Bᵀw
///   Q̂xx = Qxx + AᵀVA                       q̂x = qx + Aᵀw
///   K = -Q̂uu⁻¹ Q̂ux    k = -Q̂uu⁻¹ q̂u    V = Q̂xx + Q̂uxᵀ K    v = q̂x + Q̂uxᵀ k

namespace tangere {

void LqStage::resize(int nx, int nu) {
  A.setZero(nx, nx);
  B.setZero(nx, nu);
  d.setZero(nx);
  Qxx.setZero(nx, nx);
  Qux.setZero(nu, nx);
  Quu.setZero(nu, nu);
  qx.setZero(nx);
  qu.setZero(nu);
}

/// One stage. Aligned: Eigen sums small products in another order where the answer begins off its alignment, and the
/// bits would depend on where the heap puts it.
struct Riccati::Scratch {
  Eigen::MatrixXd VA;
  Eigen::MatrixXd VB;
  Eigen::MatrixXd Qxx;
  Eigen::MatrixXd Qux;
  Eigen::MatrixXd Quu;
  Eigen::VectorXd qx;
  Eigen::VectorXd qu;
  Eigen::VectorXd w;
  Eigen::MatrixXd start;
  Eigen::VectorXd start_slope;

  void resize(int nx, int nu) {
    VA.resize(nx, nx);
    VB.resize(nx, nu);
    Qxx.resize(nx, nx);
    Qux.resize(nu, nx);
    Quu.resize(nu, nu);
    qx.resize(nx);
    qu.resize(nu);
    w.resize(nx);
  }
};

Riccati::Riccati() : scratch_(std::make_unique<Scratch>()) {}
Riccati::~Riccati() = default;
Riccati::Riccati(Riccati&&) noexcept = default;
Riccati& Riccati::operator=(Riccati&&) noexcept = default;

void Riccati::resize(int num_controls, int nx, int nu) {
  policies_.resize(num_controls + 1);
  for (LqPolicy& policy : policies_) {
    policy.K.resize(nu, nx);
    policy.k.resize(nu);
    policy.V.resize(nx, nx);
    policy.v.resize(nx);
  }
  scratch_->resize(nx, nu);
}

int Riccati::factor(std::span<const LqStage> stages, const VectorX& regularisation) {
  const int last = static_cast<int>(stages.size()) - 1;
  auto& [VA, VB, Qxx, Qux, Quu, qx, qu, w, start, start_slope] = *scratch_;
  policies_[last].V = stages[last].Qxx;
  policies_[last].v = stages[last].qx;
  for (int i = last - 1; i >= 0; --i) {
    const LqStage& stage = stages[i];
    const LqPolicy& after = policies_[i + 1];
    // the quadratic in (δx, δu)
    w = after.v;
    w.noalias() += after.V * stage.d;
    VA.noalias() = after.V * stage.A;
    VB.noalias() = after.V * stage.B;
    Quu = stage.Quu;
    Quu.noalias() += stage.B.transpose() * VB;
    Quu.diagonal() += regularisation;
    Qux = stage.Qux;
    Qux.noalias() += stage.B.transpose() * VA;
    Qxx = stage.Qxx;
    Qxx.noalias() += stage.A.transpose() * VA;
    qu = stage.qu;
    qu.noalias() += stage.B.transpose() * w;
    qx = stage.qx;
    qx.noalias() += stage.A.transpose() * w;
    // its least over δu
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(Quu);
    if (factor.info() != Eigen::Success) return i;
    LqPolicy& policy = policies_[i];
    policy.k = -qu;
    factor.solveInPlace(policy.k);
    policy.K = -Qux;
    factor.solveInPlace(policy.K);
    policy.v = qx;
    policy.v.noalias() += Qux.transpose() * policy.k;
    Qxx.noalias() += Qux.transpose() * policy.K;
    policy.V = 0.5 * Qxx;
    policy.V += 0.5 * Qxx.transpose();
    if (!policy.k.allFinite()) return i;
  }
  return -1;
}

bool Riccati::least_start(std::span<const int> free, const VectorX& regularisation, VectorX& dx) const {
  const int n = static_cast<int>(free.size());
  const LqPolicy& first = policies_[0];
  dx.setZero(first.v.size());
  if (n == 0) return true;
  Eigen::MatrixXd& V = scratch_->start;
  Eigen::VectorXd& slope = scratch_->start_slope;
  V.resize(n, n);
  slope.resize(n);
  for (int i = 0; i < n; ++i) {
    slope[i] = -first.v[free[i]];
    for (int j = 0; j < n; ++j) V(i, j) = first.V(free[i], free[j]);
    V(i, i) += regularisation[free[i]];
  }
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(V);
  if (factor.info() != Eigen::Success) return false;
  factor.solveInPlace(slope);
  for (int i = 0; i < n; ++i) dx[free[i]] = slope[i];
  return slope.allFinite();
}

void Riccati::roll_out(std::span<const LqStage> stages, std::vector<VectorX>& dx, std::vector<VectorX>& du) const {
  const int last = static_cast<int>(stages.size()) - 1;
  for (int i = 0; i < last; ++i) {
    du[i] = policies_[i].k;
    du[i].noalias() += policies_[i].K * dx[i];
    dx[i + 1] = stages[i].d;
    dx[i + 1].noalias() += stages[i].A * dx[i];
    dx[i + 1].noalias() += stages[i].B * du[i];
  }
}

}  // namespace tangere
