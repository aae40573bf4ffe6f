#include "tangere/sim/impact/internal/impact_energy.hpp"

#include <algorithm>

#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"
#include "tangere/sim/tape/hard_tape.hpp"

namespace tangere {
namespace {

/// The island that a row is of (LcpSolution::short_of_energy).
int island_of(const Tape& impact, int row) {
  const auto J = impact.hard().problem.jacobian(static_cast<int>(impact.v.size())).row(row);
  for (Eigen::Index k = 0; k < J.size(); ++k)
    if (J[k] != 0.0) return impact.hard().short_of_energy[k];
  return 0;
}

}  // namespace

void ImpactEnergy::prepare(const Model& model, Data& data, const Tape& impact) {
  count_ = 0;
  if (impact.hard().short_of_energy.empty()) return;
  count_ = static_cast<std::size_t>(
      *std::max_element(impact.hard().short_of_energy.begin(), impact.hard().short_of_energy.end()));
  if (islands_.size() < count_) islands_.resize(count_);
  no_velocity_.setZero(model.nv());
  for (std::size_t i = 0; i < count_; ++i) {
    Island& island = islands_[i];
    island.after = impact.v_plus;
    island.before = impact.v;
    for (Eigen::Index k = 0; k < model.nv(); ++k)
      if (impact.hard().short_of_energy[k] != static_cast<int>(i) + 1) island.after[k] = island.before[k] = 0.0;
    island.sum = island.after + island.before;
    island.difference = island.after - island.before;
    island.E_q.noalias() =
        0.5 * inverse_dynamics_derivatives(model, data, impact.q, no_velocity_, island.difference).d_q.transpose() *
        island.sum;
    island.after = inverse_dynamics(model, data, impact.q, no_velocity_, island.after);
    island.before = inverse_dynamics(model, data, impact.q, no_velocity_, island.before);
  }
}

void ImpactEnergy::linearise(const Model& model, const Data& data, const Tape& impact, LcpDerivatives& derivatives,
                             bool with_impulses) {
  for (std::size_t n = 0; n < count_; ++n) {
    Island& island = islands_[n];
    // the rows' targets are s times those with all the restitution
    (void)s_.reset(static_cast<Eigen::Index>(derivatives.clamped().size()));
    for (std::size_t i = 0; i < derivatives.clamped().size(); ++i) {
      const int r = derivatives.clamped()[i];
      const Row& row = impact.hard().problem.rows[r];
      if (row.restitution_kept < 1.0 && row.restitution_kept > 0.0 && island_of(impact, r) == static_cast<int>(n) + 1)
        s_[static_cast<Eigen::Index>(i)] = -row.target / row.restitution_kept;
    }
    island.v_s.setZero(model.nv());
    derivatives.respond(model, data, impact.hard().problem, island.v_s, s_.view(),
                        with_impulses ? &island.f_s : nullptr);
    island.E_s = island.after.dot(island.v_s);
  }
}

void ImpactEnergy::correct(ScratchMatrix& velocity, ScratchMatrix* impulses) {
  const Eigen::Index nv = velocity.rows();
  for (const Island& island : islands()) {
    if (island.E_s == 0.0) continue;
    ds_.noalias() = velocity.view().transpose() * island.after;
    ds_.head(nv) += island.E_q;
    ds_.tail(nv) -= island.before;
    ds_ /= -island.E_s;
    velocity.view().noalias() += island.v_s * ds_.transpose();
    if (impulses != nullptr) impulses->view().noalias() += island.f_s.view() * ds_.transpose();
  }
}

void ImpactEnergy::correct(const Model& model, Data& data, const Tape& impact, const Parameter* parameter,
                           Eigen::Ref<VectorX> velocity, ScratchVector* impulses) {
  for (const Island& island : islands()) {
    if (island.E_s == 0.0) continue;
    double change = island.after.dot(velocity);
    if (parameter != nullptr) {
      inverse_dynamics_parameter_derivatives(model, data, impact.q, no_velocity_, island.difference,
                                             std::span(parameter, 1), moved_);
      change += 0.5 * island.sum.dot(moved_.col(0));
    }
    const double ds = -change / island.E_s;
    velocity += ds * island.v_s;
    if (impulses != nullptr) impulses->view() += ds * island.f_s.view();
  }
}

}  // namespace tangere
