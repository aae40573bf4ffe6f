/// Problems of trajectory optimisation, the optimiser, and what checks a plan.

#include <chrono>
#include <mutex>

#include "python/src/trajopt.hpp"
#include "tangere/io/problem_file.hpp"
#include "tangere/trajopt/function_dynamics.hpp"
#include "tangere/trajopt/restarts.hpp"
#include "tangere/trajopt/verification.hpp"
#include "tangere/trajopt/world_dynamics.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

constexpr Name<TrialSteps> kTrialSteps[] = {{TrialSteps::hybrid, "hybrid"}, {TrialSteps::rollout, "rollout"}};

// dynamics

/// x' = f(x, u, time step), of a function of Python's that answers with x' or with (x', A, B).
StateFunction state_function(const nb::object& function) {
  const std::shared_ptr<nb::object> shared(new nb::object(function), [](nb::object* last) {
    if (!nb::is_alive()) return;
    const nb::gil_scoped_acquire locked;
    delete last;
  });
  return [shared](const VectorX& x, const VectorX& u, double time_step, VectorX& out, FunctionJacobians* J) {
    const nb::gil_scoped_acquire locked;
    const auto call = [&](const VectorX& at, const VectorX& with) -> nb::object {
      return (*shared)(to_array(at), to_array(with), time_step);
    };
    const nb::object answer = call(x, u);
    const bool with_jacobians = nb::isinstance<nb::tuple>(answer) && nb::len(answer) == 3;
    const nb::object next = with_jacobians ? nb::object(answer[0]) : answer;
    out = read_vector({next}, "function", x.size());
    if (J == nullptr) return;
    if (with_jacobians) {
      const nb::object A = answer[1];
      const nb::object B = answer[2];
      J->x = read_matrix({A}, "A", x.size(), x.size());
      J->u = read_matrix({B}, "B", x.size(), u.size());
      return;
    }
    constexpr double kStep = 1e-6;
    VectorX at = x;
    VectorX with = u;
    const auto column = [&](VectorX& moved, Eigen::Index i) -> VectorX {
      const double middle = moved[i];
      moved[i] = middle + kStep;
      const nb::object ahead = call(at, with);
      moved[i] = middle - kStep;
      const nb::object behind = call(at, with);
      moved[i] = middle;
      return (read_vector({ahead}, "function", x.size()) - read_vector({behind}, "function", x.size())) / (2.0 * kStep);
    };
    for (Eigen::Index i = 0; i < x.size(); ++i) J->x.col(i) = column(at, i);
    for (Eigen::Index i = 0; i < u.size(); ++i) J->u.col(i) = column(with, i);
  };
}

VectorX read_time_steps(const std::optional<Numbers>& time_steps, std::optional<int> steps, double time_step) {
  if (time_steps) {
    if (steps) throw InputError("steps", "and time_steps must not both be given");
    return read_vector(*time_steps, "time_steps");
  }
  if (!steps || *steps < 1 || *steps > 1'000'000)
    throw InputError("steps", "must be from 1 to 1000000 (or time_steps be given)");
  return constant_steps(*steps, time_step);
}

Problem make_problem(SharedDynamics dynamics, const VectorX& start, const VectorX& time_steps) {
  OptimalControl problem(dynamics.dynamics, {.start = start, .time_steps = time_steps});
  return {std::move(dynamics), std::move(problem)};
}

VectorX joined(const State& state) {
  VectorX x(state.q.size() + state.v.size());
  x << state.q, state.v;
  return x;
}

const char* kind_name(Term::Kind kind) {
  constexpr Name<Term::Kind> kKinds[] = {
      {Term::Kind::cost, "cost"}, {Term::Kind::equality, "equality"}, {Term::Kind::inequality, "inequality"}};
  return to_name(kKinds, kind);
}

Array columns_as_rows(const std::vector<VectorX>& all) {
  double* to = nullptr;
  const std::size_t width = all.empty() ? 0 : static_cast<std::size_t>(all.front().size());
  Array out = empty_array({all.size(), width}, to);
  for (const VectorX& x : all) to = std::copy_n(x.data(), x.size(), to);
  return out;
}

Array matrices(const std::vector<MatrixX>& all) {
  double* to = nullptr;
  const std::size_t rows = all.empty() ? 0 : static_cast<std::size_t>(all.front().rows());
  const std::size_t cols = all.empty() ? 0 : static_cast<std::size_t>(all.front().cols());
  Array out = empty_array({all.size(), rows, cols}, to);
  for (const MatrixX& m : all)
    for (Eigen::Index i = 0; i < m.rows(); ++i)
      for (Eigen::Index j = 0; j < m.cols(); ++j) *to++ = m(i, j);
  return out;
}

std::vector<MatrixX> read_matrices(const Numbers& numbers, const char* name) {
  const Doubles read(numbers, name);
  if (read.rank() != 3) throw InputError(name, "must have the shape (steps, nu, ndx), got " + read.shape());
  std::vector<MatrixX> out;
  const auto rows = read.extent(1);
  const auto cols = read.extent(2);
  for (Py_ssize_t k = 0; k < read.extent(0); ++k)
    out.emplace_back(Eigen::Map<const RowMatrix>(read.data() + k * rows * cols, rows, cols));
  return out;
}

std::vector<VectorX> read_rows(const Numbers& numbers, const char* name) {
  const RowMatrix read = read_matrix(numbers, name, -1, -1);
  std::vector<VectorX> out;
  for (Eigen::Index i = 0; i < read.rows(); ++i) out.emplace_back(read.row(i));
  return out;
}

// the optimiser

/// An optimiser, one caller at a time.
struct OwnedOptimizer {
  SharedDynamics dynamics;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<std::mutex> busy = std::make_unique<std::mutex>();
};

/// Callback of every iteration: signals first, then the caller's function (False stops) and the progress bar.
IterationCallback iteration_callback(const nb::object& callback, const nb::object& bar) {
  return [&callback, &bar](const Iteration& iteration) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!bar.is_none()) bar(iteration);
    if (callback.is_none()) return true;
    const nb::object answer = callback(iteration);
    return !answer.is(nb::handle(Py_False));
  };
}

/// The bar of `progress=True`, closed when this ends.
class Bar {
 public:
  explicit Bar(bool wanted) : bar_(nb::none()) {
    if (wanted) bar_ = nb::module_::import_("tangere._progress").attr("Iterations")();
  }
  ~Bar() {
    try {
      if (!bar_.is_none()) bar_.attr("close")();
    } catch (const nb::python_error&) {
      PyErr_Clear();
    }
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  [[nodiscard]] const nb::object& object() const { return bar_; }

 private:
  nb::object bar_;
};

/// Solves by `run(optimizer, callback)`, without the interpreter's lock.
template <class Run>
OptimizeResult solve(const OwnedOptimizer& o, const nb::object& callback, bool progress, const Run& run) {
  const std::unique_lock lock(*o.busy, std::try_to_lock);
  if (!lock.owns_lock()) throw InputError("optimizer", "is in use by another thread");
  const Bar bar(progress);
  const IterationCallback seen = iteration_callback(callback, bar.object());
  const nb::gil_scoped_release unlocked;
  return run(*o.optimizer, seen);
}

void bind_options(nb::module_& m) {
  nb::class_<ContactPhase>(m, "ContactPhase", "How contact is solved while an optimiser is in one of its phases.")
      .def(
          "__init__",
          [](ContactPhase* self, std::string_view formulation, double kappa, double tolerance, double margin) {
            ContactPhase phase;
            phase.formulation = formulation_from(formulation);
            phase.kappa = kappa;
            phase.tolerance = tolerance;
            phase.margin = margin;
            new (self) ContactPhase(phase);
          },
          "formulation"_a = "lcp", nb::kw_only(), "kappa"_a = ContactPhase{}.kappa,
          "tolerance"_a = ContactPhase{}.tolerance, "margin"_a = ContactPhase{}.margin,
          "Relaxation, tolerance and margin are those of smooth contact (SmoothOptions).")
      .def_prop_ro(
          "formulation", [](const ContactPhase& p) { return std::string(to_string(p.formulation)); },
          "`lcp`, `single_level` or `bilevel`.")
      .def_ro("kappa", &ContactPhase::kappa, "The relaxation.")
      .def_ro("tolerance", &ContactPhase::tolerance, "As a part of kappa.")
      .def_ro("margin", &ContactPhase::margin, "How far pairs see each other.")
      .def(
          "__eq__", [](const ContactPhase& a, const ContactPhase& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__getstate__",
           [](const ContactPhase& p) {
             return nb::make_tuple(std::string(to_string(p.formulation)), p.kappa, p.tolerance, p.margin);
           })
      .def("__setstate__",
           [](ContactPhase& p, const nb::tuple& s) {
             if (s.size() != 4) throw InputError("phase", "has another state");
             ContactPhase phase;
             phase.formulation = formulation_from(nb::cast<std::string>(s[0]));
             phase.kappa = nb::cast<double>(s[1]);
             phase.tolerance = nb::cast<double>(s[2]);
             phase.margin = nb::cast<double>(s[3]);
             new (&p) ContactPhase(phase);
           })
      .def("__repr__", [](const ContactPhase& p) {
        return "ContactPhase('" + std::string(to_string(p.formulation)) +
               "', kappa=" + nb::repr(nb::float_(p.kappa)).c_str() + ")";
      });
  using O = OptimizerOptions;
  OptionsClass<O> options(m, "OptimizerOptions", "Options of an optimiser.");
  options.field("tolerance", &O::tolerance, "Of the gradient.")
      .field("constraint_tolerance", &O::constraint_tolerance, "Of constraints.")
      .field("max_iterations", &O::max_iterations, "Of a solve.")
      .named("steps", &O::steps, kTrialSteps, "`rollout` with contact, `hybrid` for given dynamics.")
      .field("phases", &O::phases, "Of contact, one after the other; the last is what the plan is made for.")
      .field("barrier", &O::barrier, "At first.")
      .field("barrier_factor", &O::barrier_factor, "From round to round.")
      .field("barrier_power", &O::barrier_power, "Of the barrier that it falls to if that is less.")
      .field("slack", &O::slack, "Least slack at the start, in units of the constraints.")
      .field("penalty", &O::penalty, "Of equalities, at first.")
      .field("penalty_growth", &O::penalty_growth, "Its factor.")
      .field("penalty_always_grows", &O::penalty_always_grows, "In every round.")
      .field("max_penalty", &O::max_penalty, "At most.")
      .field("regularisation", &O::regularisation, "Added to the curvature in controls, at first.")
      .field("least_regularisation", &O::least_regularisation, "At least.")
      .field("memory", &O::memory, "How many last values of the merit a new one is compared with.")
      .field("progress", &O::progress, "A round is over when the merit falls by less than this part twice.")
      .field("max_round_iterations", &O::max_round_iterations, "Of a round.")
      .field("max_rounds", &O::max_rounds, "In the last phase.")
      .field("max_seconds", &O::max_seconds, "The best plan so far is answered then.");
  nb::handle type = nb::type<O>();
  nb::setattr(type, "through_contact",
              nb::module_::import_("builtins")
                  .attr("staticmethod")(nb::cpp_function(
                      [] { return O::through_contact(); }, nb::name("through_contact"),
                      "For dynamics that find their own contacts: smooth contact first, then sharper, then hard.")));
  nb::setattr(type, "hard_contact",
              nb::module_::import_("builtins")
                  .attr("staticmethod")(
                      nb::cpp_function([] { return O::hard_contact(); }, nb::name("hard_contact"),
                                       "With hard contact alone, for tasks whose contacts are there from the start.")));
  using R = RestartOptions;
  OptionsClass<R>(m, "RestartOptions", "Options of several solves of one problem from different starts.")
      .field("count", &R::count, "Solves at most.")
      .field("noise", &R::noise, "Added to the guess's controls, a part of half their range.")
      .field("noisy_first", &R::noisy_first, "From the first start on.")
      .field("seed", &R::seed, "Of the noise.")
      .field("least_regularisation", &R::least_regularisation, "One after the other and again from the first.");
}

void bind_results(nb::module_& m) {
  nb::class_<Plan>(m, "Plan", "A trajectory: a state per knot, a control and feedback per step.")
      .def(
          "__init__",
          [](Plan* self, const Numbers& x, const Numbers& u, const std::optional<Numbers>& K) {
            Plan plan{read_rows(x, "x"), read_rows(u, "u"), {}};
            if (K) plan.K = read_matrices(*K, "K");
            new (self) Plan(std::move(plan));
          },
          "x"_a, "u"_a, "K"_a = nb::none(), "States (steps + 1, nx), controls (steps, nu), gains (steps, nu, ndx).")
      .def_prop_ro(
          "x", [](const Plan& p) { return columns_as_rows(p.x); }, "States, (steps + 1, nx).")
      .def_prop_ro(
          "u", [](const Plan& p) { return columns_as_rows(p.u); }, "Controls, (steps, nu).")
      .def_prop_ro(
          "K", [](const Plan& p) { return matrices(p.K); }, "Feedback du = K dx, (steps, nu, ndx).");
  nb::class_<Iteration>(m, "Iteration", "One row of an optimiser's log.")
      .def_ro("iteration", &Iteration::iteration, "From 0.")
      .def_ro("phase", &Iteration::phase, "Of contact, from 0.")
      .def_ro("cost", &Iteration::cost, "Of the iterate.")
      .def_ro("defect", &Iteration::defect, "The largest of the dynamics.")
      .def_ro("equality", &Iteration::equality, "The largest.")
      .def_ro("inequality", &Iteration::inequality, "The largest that is violated.")
      .def_ro("gradient", &Iteration::gradient, "The largest entry of the Lagrangian's, relative.")
      .def_ro("barrier", &Iteration::barrier, "Of inequalities.")
      .def_ro("penalty", &Iteration::penalty, "Of equalities.")
      .def_ro("regularisation", &Iteration::regularisation, "Of the curvature in controls.")
      .def_ro("step", &Iteration::step, "The part of the step that was taken; 0: none.")
      .def_ro("trials", &Iteration::trials, "How many steps were tried.")
      .def("__repr__", [](const Iteration& i) {
        return "Iteration(" + std::to_string(i.iteration) + ", cost=" + nb::repr(nb::float_(i.cost)).c_str() + ")";
      });
  nb::class_<OptimizeResult>(m, "OptimizeResult", "The answer of an optimiser.")
      .def_prop_ro(
          "status", [](const OptimizeResult& r) { return std::string(to_string(r.status)); },
          "`solved`, `stalled`, `infeasible`, `stopped` or `not_finite`.")
      .def_ro("knot", &OptimizeResult::knot, "Of the worst constraint, or of what is not finite; -1: none.")
      .def_ro("name", &OptimizeResult::name, "Of the same.")
      .def_ro("violation", &OptimizeResult::violation, "Of the same.")
      .def_ro("iterations", &OptimizeResult::iterations, "How many.")
      .def_ro("cost", &OptimizeResult::cost, "Of the plan.")
      .def_ro("seconds", &OptimizeResult::seconds, "That it took.")
      .def_ro("plan", &OptimizeResult::plan, "The trajectory.")
      .def_ro("log", &OptimizeResult::log, "One row an iteration.")
      .def("__repr__", [](const OptimizeResult& r) {
        return "OptimizeResult(status='" + std::string(to_string(r.status)) +
               "', cost=" + nb::repr(nb::float_(r.cost)).c_str() + ", iterations=" + std::to_string(r.iterations) +
               (r.name.empty() ? "" : ", worst='" + r.name + "'") + ")";
      });
  nb::class_<Verification>(m, "Verification", "How a plan plays.")
      .def_ro("finite", &Verification::finite, "False if the motion ran away.")
      .def_ro("strays", &Verification::strays, "The largest entry of x ⊖ x of the plan.")
      .def_ro("knot", &Verification::knot, "The knot of the largest stray.")
      .def_ro("equality", &Verification::equality, "The worst equality along the played motion.")
      .def_ro("inequality", &Verification::inequality, "The worst inequality along the played motion.")
      .def_ro("between", &Verification::between, "The worst inequality between the knots of the plan's own motion.")
      .def_ro("name", &Verification::name, "Name of the worst constraint.")
      .def("__repr__", [](const Verification& v) {
        return "Verification(strays=" + std::string(nb::repr(nb::float_(v.strays)).c_str()) +
               ", equality=" + nb::repr(nb::float_(v.equality)).c_str() +
               ", inequality=" + nb::repr(nb::float_(v.inequality)).c_str() + ")";
      });
}

Guess read_guess(const std::optional<Numbers>& x, const std::optional<Numbers>& u) {
  Guess out;
  if (x) out.x = read_matrix(*x, "x", -1, -1).transpose();
  if (u) out.u = read_matrix(*u, "u", -1, -1).transpose();
  return out;
}

void bind_optimizer(nb::module_& m) {
  nb::class_<Guess>(m, "Guess", "A start of an optimiser: states and controls, or either.")
      .def(
          "__init__",
          [](Guess* self, const std::optional<Numbers>& x, const std::optional<Numbers>& u) {
            new (self) Guess(read_guess(x, u));
          },
          "x"_a = nb::none(), "u"_a = nb::none(), "x: (steps + 1, nx), u: (steps, nu).")
      .def_static(
          "line",
          [](const Problem& p, const Numbers& goal) {
            return Guess::line(p.problem, read_dynamics_state(p.dynamics, goal, "goal"));
          },
          "problem"_a, "goal"_a, "States on the way from the start to the goal, evenly.")
      .def_prop_ro(
          "x", [](const Guess& g) { return to_array(g.x.transpose()); }, "(steps + 1, nx), or empty.")
      .def_prop_ro(
          "u", [](const Guess& g) { return to_array(g.u.transpose()); }, "(steps, nu), or empty.");
  nb::class_<OwnedOptimizer>(m, "Optimizer", "Trajectory optimisation: one Newton iteration on one Riccati recursion.")
      .def(
          "__init__",
          [](OwnedOptimizer* self, const Problem& problem, const OptimizerOptions& options) {
            new (self) OwnedOptimizer{problem.dynamics, std::make_unique<Optimizer>(problem.problem, options)};
          },
          "problem"_a, "options"_a = OptimizerOptions{},
          "Keeps a copy of the problem. `OptimizerOptions.through_contact()` is for worlds that are to find contacts.")
      .def(
          "solve",
          [](const OwnedOptimizer& o, const std::optional<Guess>& guess, const nb::object& callback,
             const std::optional<RestartOptions>& restarts, bool progress) {
            const Guess from = guess ? *guess : Guess{};
            return solve(o, callback, progress, [&](Optimizer& optimizer, const IterationCallback& seen) {
              if (restarts) return solve_with_restarts(optimizer, *restarts, from, seen);
              return optimizer.solve(from, seen);
            });
          },
          "guess"_a = nb::none(), nb::kw_only(), "callback"_a = nb::none(), "restarts"_a = nb::none(),
          "progress"_a = false,
          "The best plan. `callback` sees every Iteration and stops by False; Ctrl-C raises; `progress` shows a bar "
          "(tqdm where it is installed). With `restarts`: from different starts until one is solved.")
      .def(
          "solve_again",
          [](const OwnedOptimizer& o, const nb::object& callback, bool progress) {
            return solve(o, callback, progress, [&](Optimizer& optimizer, const IterationCallback& seen) {
              return optimizer.solve_again(seen);
            });
          },
          nb::kw_only(), "callback"_a = nb::none(), "progress"_a = false,
          "From the last answer, with its multipliers, in the last phase.")
      .def(
          "set_start",
          [](const OwnedOptimizer& o, const Numbers& start) {
            const std::unique_lock lock(*o.busy, std::try_to_lock);
            if (!lock.owns_lock()) throw InputError("optimizer", "is in use by another thread");
            o.optimizer->set_start(read_dynamics_state(o.dynamics, start, "start"));
          },
          "start"_a, "Another start of the same problem.")
      .def_prop_ro(
          "options", [](const OwnedOptimizer& o) { return o.optimizer->options(); }, "A copy.");
  m.def(
      "verify",
      [](const Problem& p, const Plan& plan, int refine, const std::optional<ContactPhase>& contact,
         const std::optional<Numbers>& gains) {
        VerifyOptions options{.refine = refine};
        if (contact) options.contact = *contact;
        if (gains) options.gains = read_matrices(*gains, "gains");
        const nb::gil_scoped_release unlocked;
        return verify(p.problem, plan, options);
      },
      "problem"_a, "plan"_a, nb::kw_only(), "refine"_a = 1, "contact"_a = nb::none(), "gains"_a = nb::none(),
      "Plays a plan, with hard contact if `contact` says nothing else, `refine` steps per step of the plan, with "
      "feedback by `gains` (steps, nu, ndx) or open loop.");
  m.def(
      "tracking_gains",
      [](const Problem& p, const Plan& plan, double state_weight, double control_weight,
         const std::optional<ContactPhase>& contact) {
        const ContactPhase phase = contact ? *contact : ContactPhase{};
        return matrices(tracking_gains(p.problem, plan, state_weight, control_weight, phase));
      },
      "problem"_a, "plan"_a, "state_weight"_a = 1.0, "control_weight"_a = 1.0, "contact"_a = nb::none(),
      "Gains of a time-varying linear-quadratic regulator along a plan, (steps, nu, ndx).");
}

/// A problem file with its world as Python has worlds.
struct LoadedProblem {
  std::string name;
  Problem problem;
  OptimizerOptions options;
  RestartOptions restarts;
  Guess guess;
};

LoadedProblem loaded(ProblemFile file) {
  const World& world = file.dynamics->world();
  SharedWorld shared;
  shared.world = std::shared_ptr<const World>(file.dynamics, &world);
  shared.start = world.default_state();
  shared.scaled_by = std::shared_ptr<const Model>(file.dynamics, &world.model());
  return {file.name,
          {{file.dynamics, std::move(shared)}, std::move(file.problem)},
          file.options,
          file.restarts,
          std::move(file.guess)};
}

void bind_files(nb::module_& m) {
  nb::class_<LoadedProblem>(m, "ProblemFile", "What is in a problem file (docs/optimise.md).")
      .def_ro("name", &LoadedProblem::name, "Of the problem.")
      .def_ro("problem", &LoadedProblem::problem, "The problem.")
      .def_ro("options", &LoadedProblem::options, "Of the optimiser.")
      .def_ro("restarts", &LoadedProblem::restarts, "Several starts.")
      .def_ro("guess", &LoadedProblem::guess, "The start of the optimiser.")
      .def_prop_ro(
          "world", [](const LoadedProblem& p) { return *p.problem.dynamics.world; }, "The world.");
  m.def(
      "_load_problem", [](const std::filesystem::path& file) { return loaded(load_problem(file)); }, "file"_a,
      "See tangere.load_problem.");
  m.def(
      "problem_from_text",
      [](std::string_view text, const std::filesystem::path& file) { return loaded(problem_from_text(text, file)); },
      "text"_a, "file"_a, "A problem from JSON; its scene is looked for beside `file`.");
}

}  // namespace

SharedDynamics dynamics_of(const SharedWorld& world) { return {std::make_shared<WorldDynamics>(*world.world), world}; }

VectorX read_dynamics_state(const SharedDynamics& dynamics, const Numbers& x, const char* name) {
  if (!nb::isinstance<WorldState>(x.object)) return read_vector(x, name, dynamics.dynamics->nx());
  const WorldState& state = ready<WorldState>(x.object);
  if (dynamics.world) require_state(*dynamics.world->world, state);
  return joined(state.value);
}

void bind_trajopt_problem(nb::module_& m) {
  nb::class_<SharedDynamics>(m, "FunctionDynamics", "Dynamics by a function of Python's.")
      .def(
          "__init__",
          [](SharedDynamics* self, int nx, int nu, const nb::callable& function, bool rate) {
            StateFunction f = state_function(function);
            if (rate) f = runge_kutta(nx, nu, std::move(f));
            new (self) SharedDynamics{std::make_shared<FunctionDynamics>(nx, nu, std::move(f))};
          },
          "nx"_a, "nu"_a, "function"_a, nb::kw_only(), "rate"_a = false,
          "`function`: (x, u, time_step) -> the next x, or (next, A, B); by differences without A and B. With `rate` "
          "it "
          "answers with dx / dt, and a Runge-Kutta step is made of it.")
      .def_prop_ro(
          "nx", [](const SharedDynamics& d) { return d.dynamics->nx(); }, "Numbers of a state.")
      .def_prop_ro(
          "nu", [](const SharedDynamics& d) { return d.dynamics->nu(); }, "Numbers of a control.");
  nb::class_<Problem> c(m, "OptimalControl", "A trajectory to be optimised: dynamics, knots, costs and constraints.");
  c.def(
       "__init__",
       [](Problem* self, const SharedWorld& world, const std::optional<Numbers>& start, std::optional<int> steps,
          std::optional<double> time_step, const std::optional<Numbers>& time_steps) {
         SharedDynamics dynamics = dynamics_of(world);
         const VectorX from = start ? read_dynamics_state(dynamics, *start, "start") : joined(world.start);
         const double standard = world.world->options().time_step;
         new (self) Problem(make_problem(std::move(dynamics), from,
                                         read_time_steps(time_steps, steps, time_step ? *time_step : standard)));
       },
       "world"_a, "start"_a = nb::none(), nb::kw_only(), "steps"_a = nb::none(), "time_step"_a = nb::none(),
       "time_steps"_a = nb::none(),
       "From `start` (a State or numbers; the world's default state), `steps` of `time_step` (the world's), or "
       "`time_steps` (steps,).")
      .def(
          "__init__",
          [](Problem* self, const SharedDynamics& dynamics, const Numbers& start, std::optional<int> steps,
             double time_step, const std::optional<Numbers>& time_steps) {
            const VectorX from = read_dynamics_state(dynamics, start, "start");
            new (self) Problem(make_problem(dynamics, from, read_time_steps(time_steps, steps, time_step)));
          },
          "dynamics"_a, "start"_a, nb::kw_only(), "steps"_a = nb::none(), "time_step"_a = 0.01,
          "time_steps"_a = nb::none(), "The same for dynamics by a function.")
      .def("__copy__", [](const Problem& p) { return p; })
      .def_prop_ro(
          "num_steps", [](const Problem& p) { return p.problem.num_steps(); }, "One less than knots.")
      .def_prop_ro(
          "time_steps", [](const Problem& p) { return to_array(p.problem.horizon().time_steps); }, "(steps,).")
      .def_prop_rw(
          "start", [](const Problem& p) { return to_array(p.problem.horizon().start); },
          [](Problem& p, const Numbers& x) { p.problem.set_start(read_dynamics_state(p.dynamics, x, "start")); },
          "The first state, (nx,).")
      .def_prop_ro(
          "lower_controls", [](const Problem& p) { return to_array(p.problem.lower_controls().transpose()); },
          "(steps, nu).")
      .def_prop_ro(
          "upper_controls", [](const Problem& p) { return to_array(p.problem.upper_controls().transpose()); },
          "(steps, nu).")
      .def_prop_ro(
          "terms",
          [](const Problem& p) {
            nb::list out;
            for (const Term& term : p.problem.terms()) out.append(nb::make_tuple(kind_name(term.kind), term.name));
            return out;
          },
          nb::sig("def terms(self) -> list[tuple[str, str]]"), "Kind and name of every cost and constraint.")
      .def("__repr__", [](const Problem& p) {
        return "OptimalControl(steps=" + std::to_string(p.problem.num_steps()) +
               ", terms=" + std::to_string(p.problem.terms().size()) + ")";
      });
  bind_trajopt_terms(m, c);
}

void bind_trajopt(nb::module_& m) {
  bind_trajopt_problem(m);
  bind_options(m);
  bind_results(m);
  bind_optimizer(m);
  bind_files(m);
}

}  // namespace tangere::python
