#pragma once

/// Constraints between knots: where a trajectory breaks an inequality on its way from one knot to the next, a row is
/// put there.

#include "tangere/trajopt/internal/transcription.hpp"

namespace tangere::internal {

/// An inequality of states at the part `tau` of the step that begins at its knot.
class BetweenKnots final : public KnotFunction {
 public:
  BetweenKnots(std::shared_ptr<const KnotFunction> inner, double tau) : inner_(std::move(inner)), tau_(tau) {}
  [[nodiscard]] int size() const override { return inner_->size(); }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] std::string row_name(int i) const override { return inner_->row_name(i); }
  void verify(const Dynamics& dynamics) const override { inner_->verify(dynamics); }
  [[nodiscard]] double tau() const { return tau_; }
  [[nodiscard]] const KnotFunction* inner() const { return inner_.get(); }

 private:
  std::shared_ptr<const KnotFunction> inner_;
  double tau_;
};

/// Looks at `count` - 1 states of every step, evenly spaced, and appends a row where one of the problem's terms with
/// `between_knots` is violated by more than `tolerance`: the worst place per term and step, unless there is a row
/// within half the spacing. Answers with the worst violation.
double insert_between(const OptimalControl& problem, const std::vector<KnotPoint>& points, int count, double tolerance,
                      KnotMemory& memory, std::vector<Term>& inserted, Place& worst);

}  // namespace tangere::internal
