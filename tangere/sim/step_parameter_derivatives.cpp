/// r_θ and s_θ of every parameter (contact/lcp_derivatives.hpp), then dv⁺ = −P r_θ − K s_θ.
///
///   inertia, damping, gravity, …   r = dt times the inverse dynamics' derivative at the step's acceleration
///   placement of a joint           that, and everything beyond is carried by a twist S: places and frames of rows with
///                                  it, velocities by S × (V − V_parent)
///   placement of a shape           places and frames only; so its size (contact/contact_size.hpp)
///   friction                       r = −Jᵀ (± f_normal) of the tangential rows at their bound
///   restitution                    s = J v of the rows that bounce
///
/// Where something bounced inside the step that is so for each of its parts, and the distance at the impact moves with
/// placements; the chain rule (bounce_chain.hpp) does the rest.

#include <algorithm>
#include <cmath>
#include <functional>

#include "tangere/contact/pair_friction.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"
#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/impact/internal/bounce_chain.hpp"
#include "tangere/sim/internal/integration.hpp"
#include "tangere/sim/internal/smooth_step.hpp"
#include "tangere/sim/internal/workspace_memory.hpp"
#include "tangere/sim/step_parameters.hpp"

namespace tangere {
namespace {

using Kind = StepParameter::Kind;

bool is_beyond(const Model& model, int body, int joint) {
  while (body != kWorld && body != joint) body = model.body(body).parent;
  return body == joint;
}

/// Nothing but inertia acts in an impact, which has no duration.
bool acts_in_impacts(const Parameter& p) {
  return p.kind != Parameter::Kind::damping && p.kind != Parameter::Kind::stiffness &&
         p.kind != Parameter::Kind::rest && p.kind != Parameter::Kind::gravity;
}

/// Derivatives of one part of a step in parameters, linearised in m.derivatives.
class ParameterColumns {
 public:
  ParameterColumns(const World& world, const Model& model, Data& data, const Tape& tape, LcpDerivatives& derivatives,
                   const SolvedStep& step, ParameterScratch& scratch)
      : world_(world),
        model_(model),
        data_(data),
        tape_(tape),
        derivatives_(derivatives),
        step_(step),
        scratch_(scratch) {}

  /// dv⁺ / d(parameter), into scratch.column; and how the impulses of the rows move, if they are asked for, into
  /// scratch.forces.
  void fill(const StepParameter& p, bool with_impulses) {
    VectorX& column = scratch_.column;
    column.setZero(model_.nv());
    (void)scratch_.bounds.reset(tape_.problem.num_rows());
    (void)scratch_.s.reset(static_cast<Eigen::Index>(derivatives_.clamped().size()));
    switch (p.kind) {
      case Kind::model:
        add_model(p.model, column);
        break;
      case Kind::friction:
      case Kind::pair_friction:
        add_friction(p, column);
        break;
      case Kind::restitution:
        add_restitution(p.shape);
        break;
      case Kind::shape_placement:
        add_shape(p, column);
        break;
      case Kind::shape_size:
        add_size(p, column);
        break;
    }
    derivatives_.respond(model_, data_, tape_.problem, column, scratch_.s.view(),
                         with_impulses ? &scratch_.forces : nullptr);
    if (with_impulses) scratch_.forces.view() += scratch_.bounds.view();
  }

  /// Whether a size was asked for that moves a contact which takes part, and in a way that has no derivative.
  [[nodiscard]] bool is_rough() const { return is_rough_; }
  /// Whether the friction of a shape was asked for that is equal to that of a shape it slides on.
  [[nodiscard]] bool halves() const { return halves_; }

  /// d(distance) / d(parameter) of a contact of this part, the state held.
  [[nodiscard]] double distance(const StepParameter& p, int index) {
    const Contact& contact = tape_.problem.contacts[index];
    const Vector12& gradient = tape_.problem.motions[index].distance;
    Vector12 moved = Vector12::Zero();
    if (p.kind == Kind::shape_placement)
      moved << carried_shape(p, contact.shape_A, contact.point), carried_shape(p, contact.shape_B, contact.point);
    if (p.kind == Kind::model && p.model.kind == Parameter::Kind::placement)
      moved << carried_body(p.model, contact.body_A, contact.point),
          carried_body(p.model, contact.body_B, contact.point);
    return gradient.dot(moved) + size_change(p, contact).distance;
  }

 private:
  void add_model(const Parameter& p, Eigen::Ref<VectorX> r) {
    const bool passive = p.kind == Parameter::Kind::damping || p.kind == Parameter::Kind::stiffness;
    const bool impact = tape_.problem.time_step == 0.0;
    if (impact && !acts_in_impacts(p)) return;
    // dampers see every velocity, inertia not those of lone bodies
    const VectorX& v = passive ? tape_.v : step_.v_inertial;
    inverse_dynamics_parameter_derivatives(model_, data_, tape_.q, v, derivatives_.acceleration(), std::span(&p, 1),
                                           scratch_.smooth, derivatives_.wrenches());
    const double dt = impact ? 1.0 : tape_.problem.time_step;
    r += dt * scratch_.smooth.col(0);
    // dampers and springs act at the end of the step
    if (passive && !is_free(p.index)) {
      if (p.kind == Parameter::Kind::damping) r[p.index] += dt * (tape_.v_plus[p.index] - tape_.v[p.index]);
      if (p.kind == Parameter::Kind::stiffness) r[p.index] += dt * dt * tape_.v_plus[p.index];
    }
    if (p.kind != Parameter::Kind::placement) return;
    const int parent = model_.body(p.index).parent;
    const auto twist = [&, this](int body, const Vector3& about, const BodyVelocities& velocities) -> Vector6 {
      if (!is_beyond(model_, body, p.index)) return Vector6::Zero();
      return twist_bracket(carried_body(p, body, about), velocities.twist(model_, data_, body, about) -
                                                             velocities.twist(model_, data_, parent, about));
    };
    const auto carried = [&, this](const RowBlock& block, int side, const Vector3& about) -> Vector6 {
      const BodyRows& pair = tape_.problem.pairs[block.pair];
      return carried_body(p, side == 0 ? pair.body_A : pair.body_B, about);
    };
    derivatives_.displace(model_, data_, step_, {std::ref(carried), std::ref(twist), {}}, r, scratch_.s.view());
  }

  /// The twist of a body as the placement of a joint moves.
  [[nodiscard]] Vector6 carried_body(const Parameter& p, int body, const Vector3& about) const {
    if (!is_beyond(model_, body, p.index)) return Vector6::Zero();
    return placement_twist(pose(model_.body(p.index).parent), model_.joint(p.index).spec.X_PJ, p.component, about);
  }

  /// The twist of a shape as its placement on the body moves.
  [[nodiscard]] Vector6 carried_shape(const StepParameter& p, int shape, const Vector3& about) const {
    if (shape != p.shape) return Vector6::Zero();
    return placement_twist(pose(world_.scene().shapes()[shape].body), world_.scene().shape(model_, shape).X_BS,
                           p.component, about);
  }

  /// d(friction of a contact) / d(parameter).
  [[nodiscard]] double friction_share_of(const StepParameter& p, const Contact& contact) const {
    const ShapePair pair{contact.shape_A, contact.shape_B};
    if (p.kind == Kind::friction)
      return friction_share(model_, world_.scene(), world_.options().contact, pair, p.shape);
    const bool same = (p.shape == pair.A && p.other_shape == pair.B) || (p.shape == pair.B && p.other_shape == pair.A);
    return same ? 1.0 : 0.0;
  }

  void add_friction(const StepParameter& p, Eigen::Ref<VectorX> r) {
    const ContactProblem& problem = tape_.problem;
    for (const LcpDerivatives::Follower& follower : derivatives_.followers()) {
      const Row& row = problem.rows[follower.row];
      if (row.kind != RowKind::tangential) continue;
      const double share = friction_share_of(p, contact_of(row));
      if (share == 0.0) continue;
      halves_ = halves_ || share < 1.0;
      const double normal = share * tape_.f[derivatives_.clamped()[follower.normal]];
      const double force = std::copysign(normal, follower.slope);
      r -= force * problem.jacobian(model_.nv()).row(follower.row).transpose();
      scratch_.bounds[follower.row] = force;
    }
  }

  void add_restitution(int shape) {
    const ContactProblem& problem = tape_.problem;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      const int place = derivatives_.place_of_row(static_cast<int>(i));
      if (problem.rows[i].restitution == 0.0 || place < 0) continue;
      const Contact& contact = contact_of(problem.rows[i]);
      if (shape != contact.shape_A && shape != contact.shape_B) continue;
      const int other = shape == contact.shape_A ? contact.shape_B : contact.shape_A;
      scratch_.s[place] += problem.rows[i].restitution_kept * world_.scene().shape(model_, other).restitution *
                           problem.jacobian(model_.nv()).row(static_cast<Eigen::Index>(i)).dot(tape_.v);
    }
  }

  void add_shape(const StepParameter& p, Eigen::Ref<VectorX> r) {
    const auto carried = [&, this](const RowBlock& block, int side, const Vector3& about) -> Vector6 {
      if (block.contact < 0) return Vector6::Zero();
      const Contact& contact = tape_.problem.contacts[block.contact];
      return carried_shape(p, side == 0 ? contact.shape_A : contact.shape_B, about);
    };
    const auto twist = [](int, const Vector3&, const BodyVelocities&) -> Vector6 { return Vector6::Zero(); };
    derivatives_.displace(model_, data_, step_, {std::ref(carried), std::ref(twist), {}}, r, scratch_.s.view());
  }

  void add_size(const StepParameter& p, Eigen::Ref<VectorX> r) {
    const auto none = [](const auto&...) -> Vector6 { return Vector6::Zero(); };
    const auto change = [&, this](const RowBlock& block) -> FrameChange {
      if (block.contact < 0 || !takes_part(block)) return {};
      return size_change(p, tape_.problem.contacts[block.contact]);
    };
    derivatives_.displace(model_, data_, step_, {none, none, std::ref(change)}, r, scratch_.s.view());
  }

  /// Whether a row of it is clamped; what is at its bound pushes as its normal does, or not at all.
  [[nodiscard]] bool takes_part(const RowBlock& block) const {
    for (int r = block.first_row; r < block.first_row + block.num_rows; ++r)
      if (derivatives_.place_of_row(r) >= 0) return true;
    return false;
  }

  /// How a contact moves as one of its shapes grows.
  [[nodiscard]] FrameChange size_change(const StepParameter& p, const Contact& contact) {
    if (p.kind != Kind::shape_size || (contact.shape_A != p.shape && contact.shape_B != p.shape)) return {};
    const CollisionShape& A = world_.scene().shape(model_, contact.shape_A);
    const CollisionShape& B = world_.scene().shape(model_, contact.shape_B);
    const FrameChange change =
        contact_size_derivative(contact, A.shape, pose(contact.body_A) * A.X_BS, B.shape, pose(contact.body_B) * B.X_BS,
                                contact.shape_A == p.shape ? 0 : 1, p.component);
    is_rough_ = is_rough_ || !change.exists;
    return change;
  }

  [[nodiscard]] Pose pose(int body) const { return body == kWorld ? Pose() : body_pose(model_, data_, body); }
  [[nodiscard]] bool is_free(int dof) const {
    return std::any_of(world_.free_dofs().begin(), world_.free_dofs().end(),
                       [&](int first) { return dof >= first && dof < first + 6; });
  }
  [[nodiscard]] const Contact& contact_of(const Row& row) const {
    const RowBlock& block = tape_.problem.blocks[row.block];
    return tape_.problem.contacts[block.contact];
  }

  const World& world_;
  const Model& model_;
  Data& data_;
  const Tape& tape_;
  LcpDerivatives& derivatives_;
  const SolvedStep& step_;
  ParameterScratch& scratch_;
  bool is_rough_ = false;
  bool halves_ = false;
};

/// Columns of one part, and of its impulses if they are asked for; each is corrected in the scratch memory.
template <class Correct>
void fill_columns(ParameterColumns& columns, const Tape& part, std::span<const StepParameter> parameters,
                  ParameterScratch& scratch, ScratchMatrix& out, ScratchMatrix* impulses, const Correct& correct) {
  const auto count = static_cast<Eigen::Index>(parameters.size());
  ScratchMatrix::View velocity = out.reset(part.v_plus.size(), count);
  if (impulses != nullptr) (void)impulses->reset(part.problem.num_rows(), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    columns.fill(parameters[i], impulses != nullptr);
    correct(parameters[i]);
    velocity.col(i) = scratch.column;
    if (impulses != nullptr) impulses->view().col(i) = scratch.forces.view();
  }
}

LcpDerivatives::RowUse rows_for(bool impulses) {
  return impulses ? LcpDerivatives::RowUse::all : LcpDerivatives::RowUse::reduced;
}

GradientQuality quality_of(const ParameterColumns& columns, const LcpDerivatives& rows) {
  GradientQuality quality = columns.halves() ? GradientQuality::halved_at_tie : GradientQuality::exact;
  if (columns.is_rough()) quality = GradientQuality::features_held;
  return rows.contradicts() ? GradientQuality::rows_contradict : quality;
}

/// dv⁺ of a step without impact, or of the part before or after it.
GradientQuality fill_part(const World& world, const Tape& tape, Workspace::Memory& m,
                          std::span<const StepParameter> parameters, ScratchMatrix& out,
                          ScratchMatrix* impulses = nullptr) {
  linearise(world, tape, m, rows_for(impulses != nullptr));
  const SolvedStep step = solved_step(world, tape, m);
  ParameterColumns columns(world, world.model(), m.data, tape, m.derivatives, step, m.parameters);
  fill_columns(columns, tape, parameters, m.parameters, out, impulses, [](const StepParameter&) {});
  return quality_of(columns, m.derivatives);
}

/// v_p of an impact, and the distance there.
GradientQuality fill_impact(const World& world, const Tape& impact, int contact, Workspace::Memory& m,
                            std::span<const StepParameter> parameters, BounceColumns::Impact& out, bool with_impulses) {
  const Model& weightless = *world.impact_model();
  prepare_impacts(world, m);
  const SolvedStep step = solved_impact(impact, m.no_force);
  m.impact_energy.prepare(weightless, *m.impact_data, impact);
  m.derivatives.linearise(weightless, *m.impact_data, step, rows_for(with_impulses));
  m.impact_energy.linearise(weightless, *m.impact_data, impact, m.derivatives, with_impulses);
  ParameterColumns columns(world, weightless, *m.impact_data, impact, m.derivatives, step, m.parameters);
  const auto correct = [&](const StepParameter& p) {
    const bool moves_mass = p.kind == Kind::model && acts_in_impacts(p.model);
    m.impact_energy.correct(weightless, *m.impact_data, impact, moves_mass ? &p.model : nullptr, m.parameters.column,
                            with_impulses ? &m.parameters.forces : nullptr);
  };
  fill_columns(columns, impact, parameters, m.parameters, out.impact, with_impulses ? &out.impulses : nullptr, correct);
  for (std::size_t i = 0; i < parameters.size(); ++i) out.distance.row(0)[i] = columns.distance(parameters[i], contact);
  return quality_of(columns, m.derivatives);
}

/// A step with impacts inside, and all its impulses if asked for: answers are left in the chain.
GradientQuality fill_bounce(const World& world, const Tape& tape, Workspace::Memory& m,
                            std::span<const StepParameter> parameters, bool with_impulses) {
  BounceChain& chain = bounce_chain(m);
  BounceColumns& columns = chain.columns;
  columns.reset(world.nv(), static_cast<int>(parameters.size()), tape.num_impacts);
  set_moment_columns(world, parameters, m.parameters.moments);
  columns.moments = &m.parameters.moments;
  GradientQuality quality =
      fill_part(world, tape, m, parameters, columns.before, with_impulses ? &columns.impulses_before : nullptr);
  for (int i = 0; i < tape.num_impacts; ++i) {
    BounceColumns::Impact& impact = columns.impacts[i];
    quality = worst(quality,
                    fill_impact(world, tape.impact(i), tape.events[i].contact, m, parameters, impact, with_impulses));
    quality = worst(quality, fill_part(world, tape.after_impact(i), m, parameters, impact.after));
  }
  chain.linearise(world, tape, m, rows_for(with_impulses));
  chain.apply(world, tape);
  return quality;
}

}  // namespace

GradientQuality step_parameter_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                                         std::span<const StepParameter> parameters, StepParameterJacobians& out) {
  Workspace::Memory& m = workspace.memory();
  for (const StepParameter& parameter : parameters) require_parameter(world, parameter);
  if (is_smooth(world, m)) return smooth_parameter_jacobians(world, tape, m, parameters, out);
  if (tape.bounced()) {
    const GradientQuality quality = fill_bounce(world, tape, m, parameters, false);
    out.q = m.chain->q();
    out.v = m.chain->v();
    return worst(quality, quality_of(tape));
  }
  const GradientQuality quality = fill_part(world, tape, m, parameters, m.parameters.velocity);
  out.v = m.parameters.velocity.view();
  // without an effect on the old position
  out.q.setZero(out.v.rows(), out.v.cols());
  ScratchMatrix::View way = m.parameters.velocity.view();
  way *= world.options().integrator == Integrator::semi_implicit ? world.options().time_step : 0.0;
  set_moment_columns(world, parameters, m.parameters.moments);
  const Integration integration(world, displacement(world, tape, m.displacement), tape.v_plus);
  integration.forward(out.q, way, out.v, &m.parameters.moments);
  return worst(quality, quality_of(tape));
}

GradientQuality impulse_parameter_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                                            std::span<const StepParameter> parameters, MatrixX& out) {
  for (const StepParameter& parameter : parameters) require_parameter(world, parameter);
  GradientQuality quality = quality_of(tape);
  Workspace::Memory& m = workspace.memory();
  if (tape.bounced()) {
    quality = worst(quality, fill_bounce(world, tape, m, parameters, true));
    out = m.chain->impulses();
  } else {
    quality = worst(quality, fill_part(world, tape, m, parameters, m.parameters.velocity, &m.parameters.impulses));
    out = m.parameters.impulses.view();
  }
  return quality;
}

}  // namespace tangere
