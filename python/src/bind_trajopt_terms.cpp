/// Costs and constraints of trajectory optimisation, those by functions of Python's among them.

#include <nanobind/stl/variant.h>

#include <array>
#include <utility>
#include <variant>

#include "python/src/trajopt.hpp"
#include "tangere/trajopt/keep_apart.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

/// A knot, or the first and the last.
using KnotRange = std::variant<int, std::pair<int, int>>;

Knots read_knots(const std::optional<KnotRange>& range, Knots standard) {
  if (!range) return standard;
  if (const int* at = std::get_if<int>(&*range)) return Knots::at(*at);
  return {std::get<1>(*range).first, std::get<1>(*range).second};
}

/// One number for all, or a vector; empty for None.
VectorX read_entries(const std::optional<Numbers>& numbers, const char* name) {
  if (!numbers) return {};
  const Doubles read(*numbers, name);
  if (read.rank() > 1) throw InputError(name, "must be one number or a vector, got " + read.shape());
  return Eigen::Map<const VectorX>(read.data(), read.size());
}

template <int N>
Eigen::Matrix<double, N, 1> read_all(const Numbers& numbers, const char* name) {
  return read_vector_or_scalar(numbers, name, N);
}

// functions of Python's

/// A knot, copied for Python.
struct KnotValue {
  int index = 0;
  double time = 0.0;
  double time_step = 0.0;
  VectorX x;
  VectorX u;

  explicit KnotValue(const Knot& knot)
      : index(knot.index), time(knot.time), time_step(knot.time_step), x(knot.x), u(knot.u) {}
};

/// An object of Python's that any thread may let go of.
std::shared_ptr<nb::object> shared_object(const nb::object& object) {
  return {new nb::object(object), [](nb::object* last) {
            if (!nb::is_alive()) return;
            const nb::gil_scoped_acquire locked;
            delete last;
          }};
}

VectorX call_value(const nb::object& function, const KnotValue& knot, Eigen::Index size) {
  const nb::object answer = function(knot);
  return read_vector_or_scalar({answer}, "function", size);
}

/// The Jacobians that a function of Python's answers with.
void read_jacobians(const nb::object& answer, KnotJacobians& J) {
  const nb::tuple both = nb::isinstance<nb::tuple>(answer) ? nb::borrow<nb::tuple>(answer) : nb::make_tuple(answer);
  if (both.size() > 2) throw InputError("jacobian", "must answer with J_x, or with (J_x, J_u)");
  const nb::object x = both[0];
  J.x = read_matrix({x}, "J_x", J.x.rows(), J.x.cols());
  if (both.size() < 2) return;
  const nb::object u = both[1];
  J.u = read_matrix({u}, "J_u", J.u.rows(), J.u.cols());
}

/// Central differences, of a function without Jacobians.
void differentiate(const nb::object& function, const Knot& knot, KnotJacobians& J) {
  constexpr double kStep = 1e-6;
  KnotValue moved(knot);
  VectorX d = VectorX::Zero(J.x.cols());
  const Eigen::Index size = J.x.rows();
  const auto along = [&](auto&& move) -> VectorX {
    move(kStep);
    const VectorX ahead = call_value(function, moved, size);
    move(-kStep);
    return (ahead - call_value(function, moved, size)) / (2.0 * kStep);
  };
  for (Eigen::Index j = 0; j < d.size(); ++j) {
    J.x.col(j) = along([&](double by) {
      d[j] = by;
      knot.dynamics.plus(knot.x, d, moved.x);
    });
    d[j] = 0.0;
  }
  moved.x = knot.x;
  for (Eigen::Index j = 0; j < J.u.cols(); ++j) {
    J.u.col(j) = along([&](double by) { moved.u[j] = knot.u[j] + by; });
    moved.u[j] = knot.u[j];
  }
}

KnotVector knot_function(const nb::object& function, const nb::object& jacobian) {
  const auto value_of = shared_object(function);
  const auto jacobian_of = jacobian.is_none() ? nullptr : shared_object(jacobian);
  return [value_of, jacobian_of](const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) {
    const nb::gil_scoped_acquire locked;
    const KnotValue copy(knot);
    value = call_value(*value_of, copy, value.size());
    if (J == nullptr) return;
    if (jacobian_of != nullptr)
      read_jacobians((*jacobian_of)(copy), *J);
    else
      differentiate(*value_of, knot, *J);
  };
}

constexpr const char* kKnotsDoc = " `knots`: one, or (first, last); negative ones count from the end.";

template <class T>
nb::class_<T> term_class(nb::module_& m, const char* name, const std::string& doc) {
  nb::class_<T> c(m, name, (doc + kKnotsDoc).c_str());
  c.def_ro("name", &T::name, "In messages.");
  c.def("__repr__", [type = std::string(name)](const T& t) { return type + "(name='" + t.name + "')"; });
  return c;
}

void bind_costs(nb::module_& m) {
  term_class<StateCost>(m, "StateCost",
                        "½ weight |x ⊖ target|²; weight: a number, or one per tangent coordinate (ndx). `path` has a "
                        "target per knot, (knots, nx).")
      .def(
          "__init__",
          [](StateCost* self, const std::optional<Numbers>& target, const Numbers& weight,
             const std::optional<Numbers>& path, const std::optional<KnotRange>& knots, bool per_second,
             const std::string& name) {
            StateCost cost{.name = name, .weight = read_entries(weight, "weight"), .per_second = per_second};
            if (target && nb::isinstance<WorldState>(target->object)) {
              const State& state = ready<WorldState>(target->object).value;
              cost.target.resize(state.q.size() + state.v.size());
              cost.target << state.q, state.v;
            } else {
              cost.target = read_entries(target, "target");
            }
            if (path) cost.path = read_matrix(*path, "path", -1, -1).transpose();
            cost.knots = read_knots(knots, cost.knots);
            new (self) StateCost(std::move(cost));
          },
          "target"_a = nb::none(), nb::kw_only(), "weight"_a = 1.0, "path"_a = nb::none(), "knots"_a = nb::none(),
          "per_second"_a = false, "name"_a = "state", "`target`: a State, or numbers (nx,).");
  term_class<ControlCost>(m, "ControlCost", "½ weight |u - target|²; weight: a number, or one per control (nu).")
      .def(
          "__init__",
          [](ControlCost* self, const Numbers& weight, const std::optional<Numbers>& target,
             const std::optional<KnotRange>& knots, bool per_second, const std::string& name) {
            ControlCost cost{.name = name, .weight = read_entries(weight, "weight"), .per_second = per_second};
            cost.target = read_entries(target, "target");
            cost.knots = read_knots(knots, cost.knots);
            new (self) ControlCost(std::move(cost));
          },
          nb::kw_only(), "weight"_a = 1.0, "target"_a = nb::none(), "knots"_a = nb::none(), "per_second"_a = false,
          "name"_a = "control", "`target`: (nu,), zero if not given.");
  term_class<FrameCost>(m, "FrameCost", "Of a frame of a body, X_WF = X_WB X_BF: translation and rotation.")
      .def(
          "__init__",
          [](FrameCost* self, const std::string& body, const PoseLike& target, const PoseLike& X_BF,
             const Numbers& weight, const std::optional<KnotRange>& knots, bool per_second, const std::string& name) {
            FrameCost cost{.name = name, .body = body, .per_second = per_second};
            cost.target = read_pose(target, "target");
            cost.X_BF = read_pose(X_BF, "X_BF");
            cost.weight = read_all<6>(weight, "weight");
            cost.knots = read_knots(knots, cost.knots);
            new (self) FrameCost(std::move(cost));
          },
          "body"_a, "target"_a, nb::kw_only(), "X_BF"_a = nb::make_tuple(0, 0, 0), "weight"_a = 1.0,
          "knots"_a = nb::none(), "per_second"_a = false, "name"_a = "frame",
          "`weight`: one number, or 3 of translation and 3 of rotation.");
  term_class<CenterOfMassCost>(m, "CenterOfMassCost", "Of the centre of all mass.")
      .def(
          "__init__",
          [](CenterOfMassCost* self, const Numbers& target, const Numbers& weight,
             const std::optional<KnotRange>& knots, bool per_second, const std::string& name) {
            CenterOfMassCost cost{.name = name, .per_second = per_second};
            cost.target = read_vector3(target, "target");
            cost.weight = read_all<3>(weight, "weight");
            cost.knots = read_knots(knots, cost.knots);
            new (self) CenterOfMassCost(std::move(cost));
          },
          "target"_a, nb::kw_only(), "weight"_a = 1.0, "knots"_a = nb::none(), "per_second"_a = false,
          "name"_a = "center of mass", "`weight`: one number or 3.");
  term_class<ResidualCost>(m, "ResidualCost", "½ weight |r|² of a function of Python's.")
      .def(
          "__init__",
          [](ResidualCost* self, const nb::callable& residual, int size, const nb::object& jacobian,
             const Numbers& weight, const std::optional<KnotRange>& knots, bool per_second, const std::string& name) {
            ResidualCost cost{.name = name, .size = size, .per_second = per_second};
            cost.residual = knot_function(residual, jacobian);
            cost.weight = read_entries(weight, "weight");
            cost.knots = read_knots(knots, cost.knots);
            new (self) ResidualCost(std::move(cost));
          },
          "residual"_a, "size"_a, nb::kw_only(), "jacobian"_a = nb::none(), "weight"_a = 1.0, "knots"_a = nb::none(),
          "per_second"_a = false, "name"_a = "residual",
          "`residual`: knot -> (size,). `jacobian`: knot -> J_x (size, ndx), or (J_x, J_u); by differences if not "
          "given.");
}

template <class T>
void bind_function_constraint(nb::module_& m, const char* name, const char* doc, const char* standard_name) {
  term_class<T>(m, name, doc)
      .def(
          "__init__",
          [](T* self, const nb::callable& value, int size, const nb::object& jacobian,
             const std::optional<KnotRange>& knots, const std::string& given) {
            T constraint{.name = given, .size = size};
            constraint.value = knot_function(value, jacobian);
            constraint.knots = read_knots(knots, constraint.knots);
            new (self) T(std::move(constraint));
          },
          "value"_a, "size"_a, nb::kw_only(), "jacobian"_a = nb::none(), "knots"_a = nb::none(),
          "name"_a = standard_name,
          "`value`: knot -> (size,). `jacobian`: knot -> J_x (size, ndx), or (J_x, J_u); by differences if not given.");
}

void bind_constraints(nb::module_& m) {
  term_class<ControlBounds>(m, "ControlBounds", "lower <= u <= upper; one number stands for all.")
      .def(
          "__init__",
          [](ControlBounds* self, const Numbers& lower, const Numbers& upper, const std::optional<KnotRange>& knots,
             const std::string& name) {
            ControlBounds bounds{
                .name = name, .lower = read_entries(lower, "lower"), .upper = read_entries(upper, "upper")};
            bounds.knots = read_knots(knots, bounds.knots);
            new (self) ControlBounds(std::move(bounds));
          },
          "lower"_a, "upper"_a, nb::kw_only(), "knots"_a = nb::none(), "name"_a = "control bounds",
          "Entries may be infinite.");
  term_class<StateBounds>(m, "StateBounds", "lower <= x <= upper by tangent coordinate (ndx).")
      .def(
          "__init__",
          [](StateBounds* self, const Numbers& lower, const Numbers& upper, const std::optional<KnotRange>& knots,
             const std::string& name) {
            StateBounds bounds{
                .name = name, .lower = read_entries(lower, "lower"), .upper = read_entries(upper, "upper")};
            bounds.knots = read_knots(knots, bounds.knots);
            new (self) StateBounds(std::move(bounds));
          },
          "lower"_a, "upper"_a, nb::kw_only(), "knots"_a = nb::none(), "name"_a = "state bounds",
          "Entries may be infinite; those of ball and free joints must be.")
      .def_static(
          "joint_limits", [](const SharedModel& model) { return StateBounds::joint_limits(*model.model); }, "model"_a,
          "The limits of a model's joints; velocities are free.");
  term_class<Reach>(m, "Reach", "x = target, at the end if `knots` says nothing else.")
      .def(
          "__init__",
          [](Reach* self, const Numbers& target, const std::optional<Numbers>& mask,
             const std::optional<KnotRange>& knots, const std::string& name) {
            Reach reach{.name = name};
            if (nb::isinstance<WorldState>(target.object)) {
              const State& state = ready<WorldState>(target.object).value;
              reach.target.resize(state.q.size() + state.v.size());
              reach.target << state.q, state.v;
            } else {
              reach.target = read_entries(target, "target");
            }
            reach.mask = read_entries(mask, "mask");
            reach.knots = read_knots(knots, reach.knots);
            new (self) Reach(std::move(reach));
          },
          "target"_a, nb::kw_only(), "mask"_a = nb::none(), "knots"_a = nb::none(), "name"_a = "reach",
          "`target`: a State or (nx,). `mask` (ndx,): coordinates that count are not 0.");
  term_class<ReachFrame>(m, "ReachFrame", "A frame of a body, X_WF = X_WB X_BF, at a target.")
      .def(
          "__init__",
          [](ReachFrame* self, const std::string& body, const PoseLike& target, const PoseLike& X_BF,
             bool position_only, const std::optional<KnotRange>& knots, const std::string& name) {
            ReachFrame reach{.name = name, .body = body};
            reach.target = read_pose(target, "target");
            reach.X_BF = read_pose(X_BF, "X_BF");
            reach.position_only = position_only;
            reach.knots = read_knots(knots, reach.knots);
            new (self) ReachFrame(std::move(reach));
          },
          "body"_a, "target"_a, nb::kw_only(), "X_BF"_a = nb::make_tuple(0, 0, 0), "position_only"_a = true,
          "knots"_a = nb::none(), "name"_a = "reach frame", "Without its rotation if `position_only`.");
  bind_function_constraint<Equality>(m, "Equality", "c(x, u) = 0, of a function of Python's.", "equality");
  bind_function_constraint<Inequality>(m, "Inequality", "h(x, u) <= 0, of a function of Python's.", "inequality");
}

// shapes that stay apart

/// A shape that a function of Python's moves: knot -> (pose, J), with J (6, ndx).
PoseFunction pose_function(const nb::object& function) {
  const auto shared = shared_object(function);
  return [shared](const Knot& knot, Pose& X_WB, Eigen::Ref<MatrixX>* J) {
    const nb::gil_scoped_acquire locked;
    const nb::object answer = (*shared)(KnotValue(knot));
    if (!nb::isinstance<nb::tuple>(answer) || nb::len(answer) != 2)
      throw InputError("pose", "must be a function that answers with (pose, J), J being (6, ndx)");
    const nb::object pose = answer[0];
    const nb::object jacobian = answer[1];
    X_WB = read_pose({pose}, "pose");
    if (J != nullptr) *J = read_matrix({jacobian}, "J", 6, J->cols());
  };
}

void bind_keep_apart(nb::module_& m) {
  nb::class_<Collider>(m, "Collider", "A shape, and where it is at each knot.")
      .def(
          "__init__",
          [](Collider* self, const std::string& name, const Shape& shape, const nb::callable& pose) {
            new (self) Collider{.name = name, .shape = shape, .pose = pose_function(pose)};
          },
          "name"_a, "shape"_a, "pose"_a,
          "`pose`: knot -> (pose, J), with J (6, ndx): how it moves with the state, translation in world axes, "
          "rotation "
          "R exp(φ).")
      .def_static(
          "fixed",
          [](const std::string& name, const Shape& shape, const PoseLike& X_WB) {
            return fixed(name, shape, read_pose(X_WB, "X_WB"));
          },
          "name"_a, "shape"_a, "X_WB"_a = nb::make_tuple(0, 0, 0), "A shape that does not move.")
      .def_static(
          "of_body",
          [](const SharedWorld& world, const std::string& body) {
            return colliders_of(*dynamics_of(world).dynamics, body);
          },
          "world"_a, "body"_a, "All shapes of a body.")
      .def_ro("name", &Collider::name, "In messages.")
      .def_prop_ro(
          "shape", [](const Collider& c) { return c.shape; }, "The shape.");
  constexpr static Name<KeepApart::Metric> kMetrics[] = {{KeepApart::Metric::distance, "distance"},
                                                         {KeepApart::Metric::scaling, "scaling"}};
  term_class<KeepApart>(m, "KeepApart", "Every mover stays clear of every obstacle.")
      .def(
          "__init__",
          [](KeepApart* self, const std::vector<Collider>& movers, const std::vector<Collider>& obstacles,
             std::string_view metric, double margin, const std::optional<KnotRange>& knots, const std::string& name) {
            KeepApart apart{.name = name, .movers = movers, .obstacles = obstacles};
            apart.metric = from_name(kMetrics, "metric", metric);
            apart.margin = margin;
            apart.knots = read_knots(knots, apart.knots);
            new (self) KeepApart(std::move(apart));
          },
          "movers"_a, "obstacles"_a, nb::kw_only(), "metric"_a = "scaling", "margin"_a = 0.0, "knots"_a = nb::none(),
          "name"_a = "keep apart",
          "`metric`: distance, with `margin` in metres, or scaling, with `margin` as a part of the shapes' size.");
}

}  // namespace

void bind_trajopt_terms(nb::module_& m, nb::class_<Problem>& problem) {
  nb::class_<KnotValue>(m, "Knot", "A knot of a trajectory, as functions of costs and constraints see it.")
      .def_ro("index", &KnotValue::index, "From 0.")
      .def_ro("time", &KnotValue::time, "Seconds from the first knot.")
      .def_ro("time_step", &KnotValue::time_step, "Seconds to the next knot; 0 at the last.")
      .def_prop_ro(
          "x", [](const KnotValue& k) { return to_array(k.x); }, "The state, (nx,).")
      .def_prop_ro(
          "u", [](const KnotValue& k) { return to_array(k.u); }, "The control, (nu,); zero at the last knot.");
  bind_costs(m);
  bind_constraints(m);
  bind_keep_apart(m);
  const auto add = [&]<class T>(std::type_identity<T>) {
    problem.def(
        "add", [](Problem& p, const T& term) { p.problem.add(term); }, "term"_a, "Adds a cost or a constraint.");
  };
  add(std::type_identity<StateCost>());
  add(std::type_identity<ControlCost>());
  add(std::type_identity<FrameCost>());
  add(std::type_identity<CenterOfMassCost>());
  add(std::type_identity<ResidualCost>());
  add(std::type_identity<ControlBounds>());
  add(std::type_identity<StateBounds>());
  add(std::type_identity<Reach>());
  add(std::type_identity<ReachFrame>());
  add(std::type_identity<Equality>());
  add(std::type_identity<Inequality>());
  problem.def(
      "add", [](Problem& p, const KeepApart& term) { tangere::add(p.problem, term); }, "term"_a,
      "Adds one inequality per pair of a mover and an obstacle.");
}

}  // namespace tangere::python
