#include "tangere/sim/simulator.hpp"

#include <string>
#include <utility>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

std::vector<StepParameter> named(const World& world, std::span<const std::string_view> names) {
  std::vector<StepParameter> out;
  out.reserve(names.size());
  for (const std::string_view name : names) out.push_back(find_step_parameter(world, name));
  return out;
}

}  // namespace

Simulator::Simulator(World world) : world_(std::move(world)), workspace_(world_) {}

State Simulator::step(const State& state, VectorArgument u, const StepOptions& options) {
  State next;
  has_stepped_ = false;
  copy_report(tangere::step(world_, state, u, workspace_, next, &tape_, options), report_);
  has_stepped_ = true;
  return next;
}

State Simulator::run(const State& state, const Eigen::Ref<const MatrixX>& controls) {
  if (controls.rows() != world_.nu())
    throw InputError("controls",
                     "must have " + std::to_string(world_.nu()) + " rows, got " + std::to_string(controls.rows()));
  State next = state;
  for (Eigen::Index i = 0; i < controls.cols(); ++i) next = step(next, controls.col(i));
  return next;
}

const Tape& Simulator::tape() const {
  if (!has_stepped_) throw InputError("simulator", "has made no step yet");
  return tape_;
}

StepReport Simulator::report() const {
  (void)tape();
  return report_;
}

Linearization Simulator::linearize(GradientMode mode, const StateTangent* loss) {
  Linearization out;
  const int nv = world_.nv();
  out.A.resize(2 * nv, 2 * nv);
  out.B.resize(2 * nv, world_.nu());
  out.P.resize(2 * nv, 0);
  out.quality = step_jacobians(world_, tape(), workspace_, jacobians_, mode, loss);
  jacobians_.copy_to(out.A, out.B);
  return out;
}

Linearization Simulator::linearize(std::span<const std::string_view> parameters) {
  Linearization out = linearize();
  const std::vector<StepParameter> asked = named(world_, parameters);
  StepParameterJacobians by_parameters;
  const GradientQuality quality = step_parameter_jacobians(world_, tape(), workspace_, asked, by_parameters);
  out.P.resize(2 * world_.nv(), by_parameters.q.cols());
  out.P << by_parameters.q, by_parameters.v;
  out.quality = worst(out.quality, quality);
  return out;
}

StepGradient Simulator::gradient(const StateTangent& next, GradientMode mode) {
  StepGradient out;
  out.quality = step_vjp(world_, tape(), workspace_, next, out.state, out.control, mode);
  return out;
}

StepGradient Simulator::gradient(const StateTangent& next, std::span<const std::string_view> parameters) {
  StepGradient out = gradient(next);
  const std::vector<StepParameter> asked = named(world_, parameters);
  StepParameterJacobians by_parameters;
  const GradientQuality quality = step_parameter_jacobians(world_, tape(), workspace_, asked, by_parameters);
  out.parameters = by_parameters.q.transpose() * next.q + by_parameters.v.transpose() * next.v;
  out.quality = worst(out.quality, quality);
  return out;
}

}  // namespace tangere
