/// Steps of one world, their derivatives, and rollouts.

#include <chrono>

#include "python/src/world.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/sim/step_diagnosis.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

/// A contact of a step, with names.
struct NamedContact {
  Contact contact;
  std::string body_A;
  std::string body_B;
  std::string shape_A;
  std::string shape_B;
};

std::string shape_name(const World& world, int shape) {
  const CollisionShape& found = world.scene().shape(world.model(), shape);
  const SceneShape& at = world.scene().shapes()[shape];
  return found.name.empty() ? std::to_string(at.index) : found.name;
}

std::vector<NamedContact> named(const World& world, std::span<const Contact> contacts) {
  std::vector<NamedContact> out;
  for (const Contact& c : contacts)
    out.push_back({c, world.model().body(c.body_A).spec.name, world.model().body(c.body_B).spec.name,
                   shape_name(world, c.shape_A), shape_name(world, c.shape_B)});
  return out;
}

/// Copies the state into the memory's own, so that nothing of Python is read while the lock is released.
void copy_start(const World& world, const WorldState& state, StepMemory& memory) {
  require_state(world, state);
  memory.start = state.value;
  memory.workspace.restore(state.warm);
}

/// The step from `state`, with the lock released.
const StepResult& make_step(const World& world, const WorldState& state, const Numbers& u, StepMemory& memory,
                            Tape* tape) {
  copy_start(world, state, memory);
  memory.u = read_control(world, u);
  const nb::gil_scoped_release unlocked;
  return step(world, memory.start, memory.u, memory.workspace, memory.next, tape);
}

WorldState next_state(StepMemory& memory, StepStatus status) {
  WorldState out{memory.next, {}, status};
  memory.workspace.save(out.warm);
  return out;
}

/// (2 nv, 2 nv) and (2 nv, nu) from the blocks.
nb::tuple as_matrices(const StepJacobians& j) {
  const Eigen::Index nv = j.q_q.rows();
  RowMatrix A(2 * nv, 2 * nv);
  A << j.q_q, j.q_v, j.v_q, j.v_v;
  RowMatrix B(2 * nv, j.q_u.cols());
  B << j.q_u, j.v_u;
  return nb::make_tuple(to_array(A), to_array(B));
}

nb::tuple jacobians(const SharedWorld& s, const WorldState& state, const Numbers& u, std::string_view mode) {
  const GradientMode gradient_mode = read_gradient_mode(mode);
  const auto memory = s.lend();
  (void)make_step(*s.world, state, u, *memory, &memory->tape);
  StepJacobians out;
  {
    const nb::gil_scoped_release unlocked;
    (void)step_jacobians(*s.world, memory->tape, memory->workspace, out, gradient_mode);
  }
  return as_matrices(out);
}

Array stacked(const StepParameterJacobians& j) {
  RowMatrix out(j.q.rows() + j.v.rows(), j.q.cols());
  out << j.q, j.v;
  return to_array(out);
}

Array parameter_gradient(const SharedWorld& s, const nb::object& names, const WorldState& state, const Numbers& u) {
  const bool single = nb::isinstance<nb::str>(names);
  const auto list =
      single ? std::vector<std::string>{nb::cast<std::string>(names)} : nb::cast<std::vector<std::string>>(names);
  const std::vector<StepParameter> parameters = read_parameters(*s.world, list);
  const auto memory = s.lend();
  (void)make_step(*s.world, state, u, *memory, &memory->tape);
  StepParameterJacobians out;
  (void)step_parameter_jacobians(*s.world, memory->tape, memory->workspace, parameters, out);
  if (!single) return stacked(out);
  VectorX column(2 * s.world->nv());
  column << out.q.col(0), out.v.col(0);
  return to_array(column);
}

/// A step and its tape: everything that can be asked about it afterwards.
struct RecordedStep {
  explicit RecordedStep(SharedWorld of) : world(std::move(of)), tape(std::make_shared<Tape>()) {}

  SharedWorld world;
  std::shared_ptr<Tape> tape;
  WorldState next{};
  std::vector<NamedContact> contacts{};
  std::vector<NamedContact> impacts{};
  double residual = 0.0;
  double margin = 0.0;
  double restitution_kept = 1.0;
  bool bounced_at_end = false;
};

RecordedStep record(const SharedWorld& s, const WorldState& state, const Numbers& u) {
  RecordedStep out(s);
  const auto memory = s.lend();
  const StepResult& result = make_step(*s.world, state, u, *memory, out.tape.get());
  out.next = next_state(*memory, result.status);
  out.contacts = named(*s.world, result.contacts);
  out.impacts = named(*s.world, result.impacts);
  out.residual = result.residual;
  out.margin = result.margin;
  out.restitution_kept = result.restitution_kept;
  out.bounced_at_end = result.bounced_at_end;
  return out;
}

StateTangent read_tangent(const World& world, const Numbers& g, const char* name) {
  const VectorX both = read_vector(g, name, 2 * world.nv());
  return {both.head(world.nv()), both.tail(world.nv())};
}

Array both(const StateTangent& g) {
  VectorX out(g.q.size() + g.v.size());
  out << g.q, g.v;
  return to_array(out);
}

nb::tuple recorded_vjp(const RecordedStep& r, const Numbers& g, const std::optional<Numbers>& g_impulses,
                       std::string_view mode) {
  const World& world = *r.world.world;
  const StateTangent gradient = read_tangent(world, g, "g");
  const auto memory = r.world.lend();
  StateTangent g_state;
  VectorX g_u;
  if (g_impulses)
    (void)step_vjp(world, *r.tape, memory->workspace, gradient,
                   read_vector(*g_impulses, "g_impulses", num_impulses(*r.tape)), g_state, g_u);
  else
    (void)step_vjp(world, *r.tape, memory->workspace, gradient, g_state, g_u, read_gradient_mode(mode));
  return nb::make_tuple(both(g_state), to_array(g_u));
}

void bind_recorded_step(nb::module_& m) {
  nb::class_<NamedContact>(m, "Contact", "A contact of a step, world axes.")
      .def_ro("body_A", &NamedContact::body_A, "Name of the first body.")
      .def_ro("body_B", &NamedContact::body_B, "Name of the second body.")
      .def_ro("shape_A", &NamedContact::shape_A, "Name of the first shape, or its number on the body.")
      .def_ro("shape_B", &NamedContact::shape_B, "Name of the second shape, or its number on the body.")
      .def_prop_ro(
          "point", [](const NamedContact& c) { return to_array(c.contact.point); }, "(3,).")
      .def_prop_ro(
          "normal", [](const NamedContact& c) { return to_array(c.contact.frame.col(0)); }, "From A to B.")
      .def_prop_ro(
          "frame", [](const NamedContact& c) { return to_array(c.contact.frame); },
          "Columns: the normal and two tangents.")
      .def_prop_ro(
          "distance", [](const NamedContact& c) { return c.contact.distance; }, "Negative overlapping.")
      .def_prop_ro(
          "friction", [](const NamedContact& c) { return c.contact.friction; }, "Of the pair.")
      .def_prop_ro(
          "restitution", [](const NamedContact& c) { return c.contact.restitution; }, "Of the pair.")
      .def_prop_ro(
          "impulse", [](const NamedContact& c) { return to_array(c.contact.impulse); },
          "On B, in the frame: normal and tangential, N s.")
      .def("__repr__", [](const NamedContact& c) {
        return "Contact(" + c.body_A + "." + c.shape_A + " on " + c.body_B + "." + c.shape_B +
               ", distance=" + nb::repr(nb::float_(c.contact.distance)).c_str() +
               ", normal impulse=" + nb::repr(nb::float_(c.contact.impulse[0])).c_str() + ")";
      });
  nb::class_<StepDiagnosis>(m, "StepDiagnosis", "How well posed a step was.")
      .def_prop_ro(
          "margins", [](const StepDiagnosis& d) { return new_array({d.margins.size()}, d.margins.data()); },
          "How far each row is from another set.")
      .def_ro("ties", &StepDiagnosis::ties, "Rows whose margin is below the tolerance: derivatives have two sides.")
      .def_ro("rough_contacts", &StepDiagnosis::rough_contacts, "Contacts whose place or frame has no derivative.")
      .def_ro("num_clamped", &StepDiagnosis::num_clamped, "Rows that are clamped.")
      .def_ro("rank", &StepDiagnosis::rank, "How many of these are independent.")
      .def_ro("condition", &StepDiagnosis::condition, "Of the system that derivatives solve.")
      .def_prop_ro(
          "reach_q", [](const StepDiagnosis& d) { return to_array(d.reach_q); },
          "How far each coordinate of q can go until a row changes its set.")
      .def_prop_ro(
          "reach_v", [](const StepDiagnosis& d) { return to_array(d.reach_v); }, "Likewise of v.")
      .def_prop_ro(
          "reach_u", [](const StepDiagnosis& d) { return to_array(d.reach_u); }, "Likewise of u.");
  nb::class_<RecordedStep>(m, "Step", "A step that was recorded, and what can be asked about it. From `World.record`.")
      .def_ro("next", &RecordedStep::next, nb::rv_policy::copy, "The state after it.")
      .def_prop_ro(
          "status", [](const RecordedStep& r) { return status_name(r.next.status); },
          "`solved`, `approximate_contact` or `not_finite`.")
      .def_ro("contacts", &RecordedStep::contacts, "With their impulses.")
      .def_ro("impacts", &RecordedStep::impacts, "Those that bounced inside the step.")
      .def_ro("residual", &RecordedStep::residual, "Of the contact problem.")
      .def_ro("margin", &RecordedStep::margin, "How far the nearest row is from another set; 0 is a tie.")
      .def_ro("restitution_kept", &RecordedStep::restitution_kept, "Below 1 where impacts would gain energy.")
      .def_ro("bounced_at_end", &RecordedStep::bounced_at_end, "Whether impacts bounced by the discrete rule.")
      .def(
          "jacobians",
          [](const RecordedStep& r, std::string_view mode) {
            const auto memory = r.world.lend();
            StepJacobians out;
            (void)step_jacobians(*r.world.world, *r.tape, memory->workspace, out, read_gradient_mode(mode));
            return as_matrices(out);
          },
          "mode"_a = "exact", "A = d next / d (q, v), (2 nv, 2 nv), and B = d next / d u, (2 nv, nu).")
      .def(
          "gradient_quality",
          [](const RecordedStep& r, std::string_view mode) {
            const auto memory = r.world.lend();
            StepJacobians out;
            return std::string(
                to_string(step_jacobians(*r.world.world, *r.tape, memory->workspace, out, read_gradient_mode(mode))));
          },
          "mode"_a = "exact", "`exact` where the derivatives are those of the step; else what they leave out.")
      .def("vjp", recorded_vjp, "g"_a, "g_impulses"_a = nb::none(), "mode"_a = "exact",
           "From the gradient of a loss in the next (q, v), (2 nv,), and in the impulses, to those in (q, v) and in u.")
      .def(
          "jvp",
          [](const RecordedStep& r, const Numbers& d, const Numbers& du) {
            const World& world = *r.world.world;
            const auto memory = r.world.lend();
            StateTangent next;
            (void)step_jvp(world, *r.tape, memory->workspace, read_tangent(world, d, "d"), read_control(world, du),
                           next);
            return both(next);
          },
          "d"_a, "du"_a = 0.0, "How the next (q, v) moves if (q, v) moves by d, (2 nv,), and u by du.")
      .def(
          "parameter_jacobians",
          [](const RecordedStep& r, const std::optional<std::vector<std::string>>& names) {
            const auto parameters = read_parameters(*r.world.world, names);
            const auto memory = r.world.lend();
            StepParameterJacobians out;
            (void)step_parameter_jacobians(*r.world.world, *r.tape, memory->workspace, parameters, out);
            return stacked(out);
          },
          "names"_a = nb::none(), "d next / d(parameters), (2 nv, number of names).")
      .def_prop_ro(
          "impulses",
          [](const RecordedStep& r) {
            VectorX out;
            step_impulses(*r.tape, out);
            return to_array(out);
          },
          "Of all rows, N s. Hard contact.")
      .def(
          "impulse_jacobians",
          [](const RecordedStep& r) {
            const auto memory = r.world.lend();
            ImpulseJacobians out;
            (void)impulse_jacobians(*r.world.world, *r.tape, memory->workspace, out);
            return nb::make_tuple(to_array(out.q), to_array(out.v), to_array(out.u));
          },
          "d impulses / d q, d v, d u. Hard contact.")
      .def(
          "impulse_parameter_jacobians",
          [](const RecordedStep& r, const std::optional<std::vector<std::string>>& names) {
            const auto parameters = read_parameters(*r.world.world, names);
            const auto memory = r.world.lend();
            MatrixX out;
            (void)impulse_parameter_jacobians(*r.world.world, *r.tape, memory->workspace, parameters, out);
            return to_array(out);
          },
          "names"_a = nb::none(), "d impulses / d(parameters). Hard contact.")
      .def(
          "diagnose",
          [](const RecordedStep& r, double tie_tolerance) {
            const auto memory = r.world.lend();
            return diagnose_step(*r.world.world, *r.tape, memory->workspace, tie_tolerance);
          },
          "tie_tolerance"_a = 1e-9, "How well posed the step was.")
      .def("__repr__", [](const RecordedStep& r) {
        return "Step(status='" + std::string(status_name(r.next.status)) +
               "', contacts=" + std::to_string(r.contacts.size()) + ")";
      });
}

/// Asks now and then whether a signal came in (Ctrl-C).
class SignalWatch {
 public:
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    answer_signals();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// A rollout of a world that it keeps alive.
struct OwnedRollout {
  std::shared_ptr<const World> world;
  std::unique_ptr<Rollout> rollout;
  std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

OwnedRollout make_rollout(const SharedWorld& s, const WorldState& start, const Numbers& controls, int max_tapes,
                          std::string_view mode) {
  const RowMatrix u = read_matrix(controls, "u", -1, s.world->nu());
  require_state(*s.world, start);
  OwnedRollout out{s.world, std::make_unique<Rollout>(*s.world, RolloutOptions{max_tapes, read_gradient_mode(mode)})};
  const State from = start.value;
  const MatrixX columns = u.transpose();
  SignalWatch watch;
  const nb::gil_scoped_release unlocked;
  out.rollout->run(from, columns, [&](int, const StepResult&) { watch.look(); });
  return out;
}

Array rollout_states(const OwnedRollout& r) {
  const std::span<const State> states = r.rollout->states();
  const auto nq = static_cast<std::size_t>(r.world->nq());
  const auto nv = static_cast<std::size_t>(r.world->nv());
  double* to = nullptr;
  Array out = empty_array({states.size(), nq + nv}, to);
  for (const State& state : states) {
    to = std::copy_n(state.q.data(), nq, to);
    to = std::copy_n(state.v.data(), nv, to);
  }
  return out;
}

nb::tuple rollout_reverse(const OwnedRollout& r, const Numbers& gradients) {
  const int steps = r.rollout->num_steps();
  const int nv = r.world->nv();
  const RowMatrix g = read_matrix(gradients, "gradients", steps + 1, 2 * nv);
  std::vector<StateTangent> all;
  for (int i = 0; i <= steps; ++i) all.push_back({g.row(i).head(nv).transpose(), g.row(i).tail(nv).transpose()});
  StateTangent g_start;
  MatrixX g_controls;
  {
    const nb::gil_scoped_release unlocked;
    const std::lock_guard lock(*r.busy);
    (void)r.rollout->reverse(all, g_start, g_controls);
  }
  return nb::make_tuple(both(g_start), to_array(g_controls.transpose()));
}

void bind_rollout(nb::module_& m) {
  nb::class_<OwnedRollout>(m, "Rollout", "Many steps, and the gradient of a loss over them. From `World.rollout`.")
      .def_prop_ro(
          "num_steps", [](const OwnedRollout& r) { return r.rollout->num_steps(); }, "How many.")
      .def_prop_ro("states", rollout_states, "(steps + 1, nq + nv): q and v beside each other, the start first.")
      .def_prop_ro(
          "num_approximate", [](const OwnedRollout& r) { return r.rollout->num_approximate(); },
          "Steps whose contact problem was solved only approximately.")
      .def(
          "__getitem__",
          [](const OwnedRollout& r, long i) {
            const auto states = r.rollout->states();
            const auto n = static_cast<long>(states.size());
            if (i < 0) i += n;
            if (i < 0 || i >= n) throw nb::index_error("state of a rollout");
            return WorldState{states[i]};
          },
          "index"_a, "A state.")
      .def("__len__", [](const OwnedRollout& r) { return r.rollout->states().size(); })
      .def("reverse", rollout_reverse, "gradients"_a,
           "From the loss's gradients in every state, (steps + 1, 2 nv), to those in the start, (2 nv,), and in all "
           "controls, (steps, nu).");
}

}  // namespace

void answer_signals() {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bind_world_steps(nb::class_<SharedWorld>& c) {
  c.def(
       "step",
       [](const SharedWorld& s, const WorldState& x, const Numbers& u) {
         const auto memory = s.lend();
         const StepStatus status = make_step(*s.world, x, u, *memory, nullptr).status;
         return next_state(*memory, status);
       },
       "x"_a, "u"_a = 0.0,
       "The state one time step later. `u`: a control (nu,), or one number for all. The answer depends on x and u "
       "alone; its `status` says how well contact was solved.")
      .def("record", record, "x"_a, "u"_a = 0.0, "A step that keeps what derivatives and diagnosis need.")
      .def(
          "jacobians", jacobians, "x"_a, "u"_a = 0.0, nb::kw_only(), "mode"_a = "exact",
          "A = d next / d (q, v), (2 nv, 2 nv), and B = d next / d u, (2 nv, nu). q moves in its tangent (nv). `mode`: "
          "exact, complementarity_aware, pre_contact, reflection, saltation.")
      .def("gradient", parameter_gradient, "names"_a, "x"_a, "u"_a = 0.0,
           "d next / d(parameter): (2 nv,) for a name such as `box.mass` or `foot.sole.friction`, (2 nv, k) for a list "
           "of names.")
      .def(
          "contacts",
          [](const SharedWorld& s, const WorldState& x, const Numbers& u) {
            const auto memory = s.lend();
            return named(*s.world, make_step(*s.world, x, u, *memory, nullptr).contacts);
          },
          "x"_a, "u"_a = 0.0, "The contacts of the step from x, with their impulses.")
      .def("rollout", make_rollout, "x"_a, "u"_a, nb::kw_only(), "max_tapes"_a = RolloutOptions{}.max_tapes,
           "mode"_a = "exact", "Steps from x with the controls (steps, nu).");
}

void bind_step(nb::module_& m) {
  bind_recorded_step(m);
  bind_rollout(m);
}

}  // namespace tangere::python
