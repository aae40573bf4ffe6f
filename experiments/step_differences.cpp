#include "experiments/step_differences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/tape/hard_tape.hpp"

namespace tangere::experiments {
namespace {

constexpr double kSmallestStep = 1e-20;
constexpr double kFactor = 1.4;
constexpr int kTableau = 10;
constexpr double kSafety = 2.0;

}  // namespace

StepDifferences::StepDifferences(const World& world, State state, VectorX u, WarmStart warm_start)
    : world_(world), state_(std::move(state)), u_(std::move(u)), warm_start_(std::move(warm_start)), workspace_(world) {
  workspace_.restore(warm_start_);
  (void)step(world_, state_, u_, workspace_, next_, &tape_);
}

bool StepDifferences::keeps(const StepResult& result) const {
  const ContactProblem& taped = tape_.hard().problem;
  if (result.rows.size() != taped.rows.size() || result.contacts.size() != taped.contacts.size()) return false;
  for (std::size_t c = 0; c < taped.contacts.size(); ++c)
    if (result.contacts[c].feature_A != taped.contacts[c].feature_A ||
        result.contacts[c].feature_B != taped.contacts[c].feature_B)
      return false;
  for (std::size_t r = 0; r < taped.rows.size(); ++r)
    if (result.sets[r] != tape_.hard().sets[r] || result.rows[r].gain != taped.rows[r].gain) return false;
  return true;
}

bool StepDifferences::moved(int k, double t, VectorX& out) {
  const int nv = world_.nv();
  from_ = state_;
  u_from_ = u_;
  if (k < nv) {
    delta_.setZero(nv);
    delta_[k] = t;
    integrate(world_.model(), state_.q, delta_, from_.q);
  } else {
    (k < 2 * nv ? from_.v[k - nv] : u_from_[k - 2 * nv]) += t;
  }
  workspace_.restore(warm_start_);
  const bool kept = keeps(step(world_, from_, u_from_, workspace_, to_));
  out.resize(2 * nv);
  difference(world_.model(), next_.q, to_.q, out.head(nv));
  out.tail(nv) = to_.v - next_.v;
  return kept;
}

/// Calls column(k, h, out) with the largest h that keeps everything, `high_` and `low_` being there.
template <class Column>
void StepDifferences::differentiate(StepJacobians& out, double step_q, double step_v, double step_u, Column&& column) {
  const int nv = world_.nv();
  for (MatrixX* block : {&out.q_q, &out.q_v, &out.v_q, &out.v_v}) block->resize(nv, nv);
  for (MatrixX* block : {&out.q_u, &out.v_u}) block->resize(nv, world_.nu());
  ties_ = 0;
  VectorX answer(2 * nv);
  for (int k = 0; k < 2 * nv + world_.nu(); ++k) {
    double h = k < nv ? step_q : k < 2 * nv ? step_v : step_u;
    while (!(moved(k, h, high_) && moved(k, -h, low_)) && h > kSmallestStep) h *= 0.5;
    if (h <= kSmallestStep) ++ties_;
    column(k, h, answer);
    const int column_of_block = k < nv ? k : k < 2 * nv ? k - nv : k - 2 * nv;
    (k < nv ? out.q_q : k < 2 * nv ? out.q_v : out.q_u).col(column_of_block) = answer.head(nv);
    (k < nv ? out.v_q : k < 2 * nv ? out.v_v : out.v_u).col(column_of_block) = answer.tail(nv);
  }
}

void StepDifferences::central(StepJacobians& out) {
  differentiate(out, 1e-7, 1e-7, 1e-7, [&](int, double h, VectorX& answer) { answer = (high_ - low_) / (2.0 * h); });
}

void StepDifferences::ridders(StepJacobians& out) {
  differentiate(out, 1e-4, 1e-2, 1.0, [&](int k, double h, VectorX& answer) {
    // Neville's tableau, one column an order, for all rows at once
    const Eigen::Index rows = 2 * world_.nv();
    VectorX error = VectorX::Constant(rows, std::numeric_limits<double>::infinity());
    previous_.resize(rows, kTableau);
    tableau_.resize(rows, kTableau);
    previous_.col(0) = (high_ - low_) / (2.0 * h);
    answer = previous_.col(0);
    for (int i = 1; i < kTableau; ++i) {
      h /= kFactor;
      (void)moved(k, h, high_);
      (void)moved(k, -h, low_);
      tableau_.col(0) = (high_ - low_) / (2.0 * h);
      double power = kFactor * kFactor;
      for (int j = 1; j <= i; ++j, power *= kFactor * kFactor) {
        tableau_.col(j) = (power * tableau_.col(j - 1) - previous_.col(j - 1)) / (power - 1.0);
        for (Eigen::Index r = 0; r < rows; ++r) {
          const double spread =
              std::max(std::abs(tableau_(r, j) - tableau_(r, j - 1)), std::abs(tableau_(r, j) - previous_(r, j - 1)));
          if (spread > error[r]) continue;
          error[r] = spread;
          answer[r] = tableau_(r, j);
        }
      }
      // the highest order gets worse everywhere: enough
      const VectorX growth = (tableau_.col(i) - previous_.col(i - 1)).cwiseAbs();
      if ((growth.array() >= kSafety * error.array()).all()) break;
      previous_.swap(tableau_);
    }
  });
}

}  // namespace tangere::experiments
