/// r_θ and s_θ of every parameter (contact/lcp_derivatives.hpp), then dv⁺ = −P r_θ − K s_θ.
///
///   inertia, damping, gravity, …   r = dt times the inverse dynamics' derivative at the step's acceleration
///   placement of a joint           that, and everything beyond is carried by a twist S: places and frames of rows with
///                                  it, velocities by S × (V − V_parent)
///   placement of a shape           places and frames only
///   friction                       r = −Jᵀ (± f_normal) of the tangential rows at their bound
///   restitution                    s = J v of the rows that bounce

#include <algorithm>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"
#include "tangere/sim/integration.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tangere/sim/workspace_memory.hpp"

namespace tangere {
namespace {

using Kind = StepParameter::Kind;

/// The twist about `about` of a frame placed at X in P, as one of the six components of its placement moves.
Vector6 placement_twist(const Pose& X_WP, const Pose& X, int component, const Vector3& about) {
  Vector3 unit = Vector3::Zero();
  unit[component % 3] = 1.0;
  Vector6 out = Vector6::Zero();
  if (component < 3) {
    out.head<3>() = X_WP.R * unit;
    return out;
  }
  const Vector3 turn = X_WP.R * (so3::right_jacobian(-so3::log(X.R)) * unit);
  out << turn.cross(about - X_WP * X.p), turn;
  return out;
}

/// [S, V]: S × V of twists about one point.
Vector6 bracket(const Vector6& S, const Vector6& V) {
  Vector6 out;
  const Vector3 s = S.head<3>();
  const Vector3 sw = S.tail<3>();
  const Vector3 v = V.head<3>();
  const Vector3 vw = V.tail<3>();
  out << sw.cross(v) + s.cross(vw), sw.cross(vw);
  return out;
}

class ParameterColumns {
 public:
  ParameterColumns(const World& world, const Tape& tape, Workspace::Memory& m, const SolvedStep& step)
      : world_(world), model_(world.model()), tape_(tape), m_(m), step_(step) {}

  /// dv⁺ / d(parameter), into `column`.
  void fill(const StepParameter& p, Eigen::Ref<VectorX> column) {
    column.setZero();
    s_.setZero(static_cast<Eigen::Index>(m_.derivatives.clamped().size()));
    switch (p.kind) {
      case Kind::model:
        add_model(p.model, column);
        break;
      case Kind::friction:
        add_friction(p.shape, column);
        break;
      case Kind::restitution:
        add_restitution(p.shape);
        break;
      case Kind::shape_placement:
        add_shape(p, column);
        break;
    }
    m_.derivatives.respond(model_, m_.data, column, s_);
  }

 private:
  void add_model(const Parameter& p, Eigen::Ref<VectorX> r) {
    inverse_dynamics_parameter_derivatives(model_, m_.data, tape_.q, tape_.v, m_.derivatives.acceleration(),
                                           std::span(&p, 1), smooth_, m_.derivatives.wrenches());
    r += world_.options().time_step * smooth_.col(0);
    // dampers and springs act at the end of the step
    const double dt = world_.options().time_step;
    const bool passive = p.kind == Parameter::Kind::damping || p.kind == Parameter::Kind::stiffness;
    if (passive && !is_free(p.index)) {
      if (p.kind == Parameter::Kind::damping) r[p.index] += dt * (tape_.v_plus[p.index] - tape_.v[p.index]);
      if (p.kind == Parameter::Kind::stiffness) r[p.index] += dt * dt * tape_.v_plus[p.index];
    }
    if (p.kind != Parameter::Kind::placement) return;
    const int parent = model_.body(p.index).parent;
    const Pose X_WP = pose(parent);
    const Pose& X_PJ = model_.joint(p.index).spec.X_PJ;
    const auto body_carried = [&, this](int body, const Vector3& about) -> Vector6 {
      if (!is_beyond(body, p.index)) return Vector6::Zero();
      return placement_twist(X_WP, X_PJ, p.component, about);
    };
    const auto carried = [&, this](const RowBlock& block, int side, const Vector3& about) -> Vector6 {
      const BodyRows& pair = tape_.problem.pairs[static_cast<std::size_t>(block.pair)];
      return body_carried(side == 0 ? pair.body_A : pair.body_B, about);
    };
    const auto twist = [&, this](int body, const Vector3& about, const BodyVelocities& velocities) -> Vector6 {
      if (!is_beyond(body, p.index)) return Vector6::Zero();
      return bracket(body_carried(body, about),
                     velocities.twist(model_, m_.data, body, about) - velocities.twist(model_, m_.data, parent, about));
    };
    m_.derivatives.displace(model_, m_.data, step_, {carried, twist}, r, s_);
  }

  void add_friction(int shape, Eigen::Ref<VectorX> r) {
    const ContactProblem& problem = tape_.problem;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      if (problem.rows[i].kind != RowKind::tangential || tape_.sets[i] == RowSet::clamped) continue;
      const Contact& contact = contact_of(problem.rows[i]);
      const double friction_A = world_.scene().shape(model_, contact.shape_A).friction;
      const double friction_B = world_.scene().shape(model_, contact.shape_B).friction;
      if (shape != (friction_A <= friction_B ? contact.shape_A : contact.shape_B)) continue;
      const double force = (tape_.sets[i] == RowSet::upper ? 1.0 : -1.0) * tape_.f[problem.boxes[i].normal];
      r -= force * problem.jacobian(model_.nv()).row(static_cast<Eigen::Index>(i)).transpose();
    }
  }

  void add_restitution(int shape) {
    const ContactProblem& problem = tape_.problem;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      const int place = m_.derivatives.place_of_row(static_cast<int>(i));
      if (problem.rows[i].restitution == 0.0 || place < 0) continue;
      const Contact& contact = contact_of(problem.rows[i]);
      if (shape != contact.shape_A && shape != contact.shape_B) continue;
      const int other = shape == contact.shape_A ? contact.shape_B : contact.shape_A;
      s_[place] += world_.scene().shape(model_, other).restitution *
                   problem.jacobian(model_.nv()).row(static_cast<Eigen::Index>(i)).dot(tape_.v);
    }
  }

  void add_shape(const StepParameter& p, Eigen::Ref<VectorX> r) {
    const Pose X_WB = pose(world_.scene().shapes()[static_cast<std::size_t>(p.shape)].body);
    const Pose& X_BS = world_.scene().shape(model_, p.shape).X_BS;
    const auto carried = [&](const RowBlock& block, int side, const Vector3& about) -> Vector6 {
      if (block.contact < 0) return Vector6::Zero();
      const Contact& contact = tape_.problem.contacts[static_cast<std::size_t>(block.contact)];
      if ((side == 0 ? contact.shape_A : contact.shape_B) != p.shape) return Vector6::Zero();
      return placement_twist(X_WB, X_BS, p.component, about);
    };
    const auto twist = [](int, const Vector3&, const BodyVelocities&) -> Vector6 { return Vector6::Zero(); };
    m_.derivatives.displace(model_, m_.data, step_, {carried, twist}, r, s_);
  }

  [[nodiscard]] Pose pose(int body) const { return body == kWorld ? Pose() : body_pose(model_, m_.data, body); }
  [[nodiscard]] bool is_free(int dof) const {
    return std::any_of(world_.free_dofs().begin(), world_.free_dofs().end(),
                       [&](int first) { return dof >= first && dof < first + 6; });
  }
  [[nodiscard]] bool is_beyond(int body, int joint) const {
    while (body != kWorld && body != joint) body = model_.body(body).parent;
    return body == joint;
  }
  [[nodiscard]] const Contact& contact_of(const Row& row) const {
    const RowBlock& block = tape_.problem.blocks[static_cast<std::size_t>(row.block)];
    return tape_.problem.contacts[static_cast<std::size_t>(block.contact)];
  }

  const World& world_;
  const Model& model_;
  const Tape& tape_;
  Workspace::Memory& m_;
  const SolvedStep& step_;
  VectorX s_;
  MatrixX smooth_;
};

}  // namespace

void step_parameter_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                              std::span<const StepParameter> parameters, StepParameterJacobians& out) {
  Workspace::Memory& m = workspace.memory();
  for (const StepParameter& parameter : parameters) require_parameter(world, parameter);
  if (tape.bounced())
    throw InputError("tape",
                     "something bounced inside the step: derivatives with respect to parameters are there for "
                     "contact.bounce = discrete only");
  linearise(world, tape, m);
  const SolvedStep step = solved_step(world, tape, m);
  ParameterColumns columns(world, tape, m, step);
  const auto count = static_cast<Eigen::Index>(parameters.size());
  out.v.resize(world.nv(), count);
  out.q.setZero(world.nv(), count);
  for (Eigen::Index i = 0; i < count; ++i) columns.fill(parameters[static_cast<std::size_t>(i)], out.v.col(i));
  const Integration integration(world.model(), displacement(world, tape, m.displacement), tape.v_plus);
  m.block_q = MatrixX::Zero(world.nv(), count);
  if (world.options().integrator == Integrator::semi_implicit) m.block_q = world.options().time_step * out.v;
  integration.forward(out.q, m.block_q, out.v);
}

}  // namespace tangere
