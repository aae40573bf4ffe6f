#include "tangere/sim/step_derivatives.hpp"

#include <limits>
#include <string>

#include "tangere/math/error.hpp"
#include "tangere/sim/internal/workspace_memory.hpp"

namespace tangere {

std::string_view to_string(GradientMode mode) {
  switch (mode) {
    case GradientMode::exact:
      return "exact";
    case GradientMode::complementarity_aware:
      return "complementarity_aware";
    case GradientMode::pre_contact:
      return "pre_contact";
    case GradientMode::reflection:
      return "reflection";
    case GradientMode::saltation:
      return "saltation";
  }
  return "unknown";
}

void StepJacobians::copy_to(Eigen::Ref<MatrixX> A, Eigen::Ref<MatrixX> B) const {
  const Eigen::Index nv = q_q.rows();
  if (A.rows() != 2 * nv || A.cols() != 2 * nv)
    throw InputError("A", "must be " + std::to_string(2 * nv) + " x " + std::to_string(2 * nv));
  if (B.rows() != 2 * nv || B.cols() != q_u.cols())
    throw InputError("B", "must be " + std::to_string(2 * nv) + " x " + std::to_string(q_u.cols()));
  A.topLeftCorner(nv, nv) = q_q;
  A.topRightCorner(nv, nv) = q_v;
  A.bottomLeftCorner(nv, nv) = v_q;
  A.bottomRightCorner(nv, nv) = v_v;
  B.topRows(nv) = q_u;
  B.bottomRows(nv) = v_u;
}

MatrixX StepJacobians::A() const {
  MatrixX out(2 * q_q.rows(), 2 * q_q.rows());
  out << q_q, q_v, v_q, v_v;
  return out;
}

MatrixX StepJacobians::B() const {
  MatrixX out(2 * q_u.rows(), q_u.cols());
  out << q_u, v_u;
  return out;
}

GradientQuality step_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out,
                               GradientMode mode, const StateTangent* loss) {
  if (mode == GradientMode::complementarity_aware) {
    if (loss == nullptr) throw InputError("loss", "must be given: complementarity_aware looks at a loss");
    require_tangent(world, "loss", *loss);
  }
  return workspace.memory().method_of(world).jacobians(world, tape, mode, loss, out);
}

GradientQuality step_vjp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& g,
                         StateTangent& g_state, VectorX& g_u, GradientMode mode) {
  require_tangent(world, "g", g);
  return workspace.memory().method_of(world).vjp(world, tape, mode, g, g_state, g_u);
}

GradientQuality step_jvp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& d,
                         VectorArgument du, StateTangent& d_next) {
  require_tangent(world, "d", d);
  require_control(world, du);
  return workspace.memory().method_of(world).jvp(world, tape, d, du, d_next);
}

GradientQuality linearized_step(const World& world, const State& state, VectorArgument u, Workspace& workspace,
                                State& next, Eigen::Ref<MatrixX> A, Eigen::Ref<MatrixX> B, const StepOptions& options) {
  Workspace::Memory& m = workspace.memory();
  if (!is_made(step(world, state, u, workspace, next, &m.own_tape, options).status)) {
    A.setConstant(std::numeric_limits<double>::quiet_NaN());
    B.setConstant(std::numeric_limits<double>::quiet_NaN());
    return GradientQuality::contact_unsolved;
  }
  const GradientQuality quality = step_jacobians(world, m.own_tape, workspace, m.own_jacobians);
  m.own_jacobians.copy_to(A, B);
  return quality;
}

}  // namespace tangere
