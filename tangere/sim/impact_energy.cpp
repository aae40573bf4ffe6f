#include "tangere/sim/impact_energy.hpp"

#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"

namespace tangere {

void ImpactEnergy::prepare(const Model& model, Data& data, const Tape& impact) {
  is_short_ = impact.restitution_kept < 1.0 && impact.restitution_kept > 0.0;
  if (!is_short_) return;
  no_velocity_.setZero(model.nv());
  after_ = impact.v_plus;
  before_ = impact.v;
  for (Eigen::Index k = 0; k < model.nv(); ++k)
    if (impact.short_of_energy[static_cast<std::size_t>(k)] == 0) after_[k] = before_[k] = 0.0;
  sum_ = after_ + before_;
  difference_ = after_ - before_;
  E_q_.noalias() =
      0.5 * inverse_dynamics_derivatives(model, data, impact.q, no_velocity_, difference_).d_q.transpose() * sum_;
  after_ = inverse_dynamics(model, data, impact.q, no_velocity_, after_);
  before_ = inverse_dynamics(model, data, impact.q, no_velocity_, before_);
}

void ImpactEnergy::linearise(const Model& model, const Data& data, const Tape& impact, LcpDerivatives& derivatives,
                             bool with_impulses) {
  if (!is_short_) return;
  // the rows' targets are s times those with all the restitution
  (void)s_.reset(static_cast<Eigen::Index>(derivatives.clamped().size()));
  for (std::size_t i = 0; i < derivatives.clamped().size(); ++i) {
    const Row& row = impact.problem.rows[static_cast<std::size_t>(derivatives.clamped()[i])];
    if (row.restitution_kept < 1.0) s_[static_cast<Eigen::Index>(i)] = -row.target / row.restitution_kept;
  }
  v_s_.setZero(model.nv());
  derivatives.respond(model, data, impact.problem, v_s_, s_.view(), with_impulses ? &f_s_ : nullptr);
  E_s_ = after_.dot(v_s_);
}

void ImpactEnergy::correct(ScratchMatrix& velocity, ScratchMatrix* impulses) {
  if (!is_short_) return;
  const Eigen::Index nv = velocity.rows();
  ds_.noalias() = velocity.view().transpose() * after_;
  ds_.head(nv) += E_q_;
  ds_.tail(nv) -= before_;
  ds_ /= -E_s_;
  velocity.view().noalias() += v_s_ * ds_.transpose();
  if (impulses != nullptr) impulses->view().noalias() += f_s_.view() * ds_.transpose();
}

void ImpactEnergy::correct(const Model& model, Data& data, const Tape& impact, const Parameter* parameter,
                           Eigen::Ref<VectorX> velocity, ScratchVector* impulses) {
  if (!is_short_) return;
  double change = after_.dot(velocity);
  if (parameter != nullptr) {
    inverse_dynamics_parameter_derivatives(model, data, impact.q, no_velocity_, difference_, std::span(parameter, 1),
                                           moved_);
    change += 0.5 * sum_.dot(moved_.col(0));
  }
  const double ds = -change / E_s_;
  velocity += ds * v_s_;
  if (impulses != nullptr) impulses->view() += ds * f_s_.view();
}

}  // namespace tangere
