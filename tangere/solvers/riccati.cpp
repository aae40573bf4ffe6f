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

void Riccati::resize(int num_controls, int nx, int nu) {
  policies_.resize(num_controls + 1);
  for (LqPolicy& policy : policies_) {
    policy.K.resize(nu, nx);
    policy.k.resize(nu);
    policy.V.resize(nx, nx);
    policy.v.resize(nx);
  }
  VA_.resize(nx, nx);
  VB_.resize(nx, nu);
  Qxx_.resize(nx, nx);
  Qux_.resize(nu, nx);
  Quu_.resize(nu, nu);
  qx_.resize(nx);
  qu_.resize(nu);
  next_.resize(nx);
}

int Riccati::factor(std::span<const LqStage> stages, const VectorX& regularisation) {
  const int last = static_cast<int>(stages.size()) - 1;
  policies_[last].V = stages[last].Qxx;
  policies_[last].v = stages[last].qx;
  for (int i = last - 1; i >= 0; --i) {
    const LqStage& stage = stages[i];
    const LqPolicy& after = policies_[i + 1];
    // the quadratic in (δx, δu)
    next_ = after.v;
    next_.noalias() += after.V * stage.d;
    VA_.noalias() = after.V * stage.A;
    VB_.noalias() = after.V * stage.B;
    Quu_ = stage.Quu;
    Quu_.noalias() += stage.B.transpose() * VB_;
    Quu_.diagonal() += regularisation;
    Qux_ = stage.Qux;
    Qux_.noalias() += stage.B.transpose() * VA_;
    Qxx_ = stage.Qxx;
    Qxx_.noalias() += stage.A.transpose() * VA_;
    qu_ = stage.qu;
    qu_.noalias() += stage.B.transpose() * next_;
    qx_ = stage.qx;
    qx_.noalias() += stage.A.transpose() * next_;
    // its least over δu
    const Eigen::LLT<Eigen::Ref<MatrixX>> factor(Quu_);
    if (factor.info() != Eigen::Success) return i;
    LqPolicy& policy = policies_[i];
    policy.k = -qu_;
    factor.solveInPlace(policy.k);
    policy.K = -Qux_;
    factor.solveInPlace(policy.K);
    policy.v = qx_;
    policy.v.noalias() += Qux_.transpose() * policy.k;
    Qxx_.noalias() += Qux_.transpose() * policy.K;
    policy.V = 0.5 * Qxx_;
    policy.V += 0.5 * Qxx_.transpose();
    if (!policy.k.allFinite()) return i;
  }
  return -1;
}

void Riccati::roll_out(std::span<const LqStage> stages, std::vector<VectorX>& dx, std::vector<VectorX>& du) const {
  const int last = static_cast<int>(stages.size()) - 1;
  dx[0].setZero();
  for (int i = 0; i < last; ++i) {
    du[i] = policies_[i].k;
    du[i].noalias() += policies_[i].K * dx[i];
    dx[i + 1] = stages[i].d;
    dx[i + 1].noalias() += stages[i].A * dx[i];
    dx[i + 1].noalias() += stages[i].B * du[i];
  }
}

}  // namespace tangere
