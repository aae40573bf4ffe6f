/// Worlds, states and loading.

#include <algorithm>

#include "python/src/world.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/multibody/configuration.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

constexpr Name<Integrator> kIntegrators[] = {{Integrator::semi_implicit, "semi_implicit"},
                                             {Integrator::explicit_position, "explicit_position"}};
constexpr Name<BounceMode> kBounceModes[] = {{BounceMode::event, "event"}, {BounceMode::discrete, "discrete"}};
constexpr Name<Redundancy> kRedundancies[] = {{Redundancy::compliance, "compliance"},
                                              {Redundancy::least_squares, "least_squares"}};
constexpr Name<FrictionShape> kFrictionShapes[] = {{FrictionShape::cone, "cone"}, {FrictionShape::pyramid, "pyramid"}};
constexpr Name<GradientMode> kGradientModes[] = {{GradientMode::exact, "exact"},
                                                 {GradientMode::complementarity_aware, "complementarity_aware"},
                                                 {GradientMode::pre_contact, "pre_contact"},
                                                 {GradientMode::reflection, "reflection"},
                                                 {GradientMode::saltation, "saltation"}};
constexpr Name<StepStatus> kStatuses[] = {{StepStatus::solved, "solved"},
                                          {StepStatus::approximate_contact, "approximate_contact"},
                                          {StepStatus::not_finite, "not_finite"}};

void bind_options(nb::module_& m) {
  OptionsClass<AllContactOptions>(m, "ContactOptions",
                                  "What a world does at its contacts, joint limits and constraints.")
      .field("margin", &HardContact::margin, "Contacts exist from this distance on, m.")
      .field("correction", &ContactOptions::correction, "The part of a penetration that a step takes back, 0 to 1.")
      .field("touching", &HardContact::touching, "Gaps below this are closed gently, m.")
      .field("correction_speed", &ContactOptions::correction_speed, "The largest speed of that correction.")
      .field("bounce_speed", &ContactOptions::bounce_speed, "Slower rebounds do not bounce, m/s.")
      .named("bounce", &HardContact::bounce, kBounceModes, "`event`: impacts inside the step; or `discrete`.")
      .field("torsional_friction", &ContactOptions::torsional_friction, "Length, m.")
      .field("rolling_friction", &HardContact::rolling_friction, "Length, m.")
      .field("joint_limits", &ContactOptions::joint_limits, "Whether they are enforced.")
      .field("joint_friction", &ContactOptions::joint_friction, "Whether it is enforced.")
      .field("mimics", &ContactOptions::mimics, "Whether they are enforced.")
      .field("constraints", &ContactOptions::constraints, "Whether they are enforced.")
      .field("compliance", &ContactOptions::compliance, "Softness of the rows, 1e-10 to 1e-2.")
      .named("redundancy", &HardContact::redundancy, kRedundancies, "`compliance` or `least_squares`.")
      .field("reduce_rows", &HardContact::reduce_rows, "Derivatives with at most six rows a pair of bodies.")
      .field("tolerance", &HardContact::tolerance, "Of the complementarity problem, relative.");
  OptionsClass<SmoothOptions>(m, "SmoothOptions", "Options of smooth contact (formulation single_level or bilevel).")
      .field("kappa", &SmoothOptions::kappa, "The relaxation, relative.")
      .field("shift", &SmoothOptions::shift, "Pairs do not penetrate at any kappa.")
      .field("compliance", &SmoothOptions::compliance, "How contact gives way, as a part of kappa.")
      .field("tolerance", &SmoothOptions::tolerance, "Norms of a solution, as a part of kappa.")
      .field("max_iterations", &SmoothOptions::max_iterations, "Of the warm and the cold start.")
      .field("warm_start", &SmoothOptions::warm_start, "Steps start from the last one's contact.")
      .named("friction", &SmoothOptions::friction, kFrictionShapes, "`cone` or `pyramid`.")
      .field("points", &SmoothOptions::points, "Contact points of a pair, 1 to 5.")
      .field("torsion", &SmoothOptions::torsion, "Radius of torsional friction, a part of the smaller body's reach.")
      .field("margin", &SmoothOptions::margin, "Pairs exist from this distance on, a part of the bodies' reach.")
      .field("sight_distance", &SmoothOptions::sight_distance, "Pairs exist from this distance on at least, m.")
      .field("smallest_part", &SmoothOptions::smallest_part, "Unsolved steps are halved down to this; 1: never.")
      .field("gradient_kappa", &SmoothOptions::gradient_kappa, "Derivatives at this relaxation instead; 0: at kappa.")
      .field("num_refinements", &SmoothOptions::num_refinements, "Newton steps before derivatives.");
}

/// Options as given; what is not given stays.
struct WorldArguments {
  std::optional<double> time_step;
  std::optional<std::string> formulation;
  std::optional<std::string> integrator;
  std::optional<AllContactOptions> contact;
  std::optional<SmoothOptions> smooth;

  [[nodiscard]] WorldOptions over(WorldOptions options) const {
    if (time_step) options.time_step = *time_step;
    if (formulation) options.formulation = formulation_from(*formulation);
    if (integrator) options.integrator = from_name(kIntegrators, "integrator", *integrator);
    if (contact) contact->copy_to(options);
    if (smooth) options.smooth = *smooth;
    return options;
  }
};

State neutral_state(const Model& model) { return {neutral_configuration(model), VectorX::Zero(model.nv())}; }

SharedWorld make_world(const Model& model, std::vector<Actuator> actuators, const WorldOptions& options, State start) {
  auto world = std::make_shared<const World>(model, std::move(actuators), options);
  auto scaled_by = std::shared_ptr<const Model>(world, &world->model());
  return {std::move(world), std::move(start), {}, {}, std::move(scaled_by)};
}

SharedWorld world_of(Scene scene, const WorldArguments& arguments) {
  WorldOptions world{.time_step = scene.time_step};
  SharedWorld out = make_world(scene.robot.model, scene.robot.actuators, arguments.over(world), {scene.q, scene.v});
  out.keyframes = std::move(scene.robot.keyframes);
  for (const Notice& notice : scene.robot.notices) out.notices.push_back(to_string(notice));
  return out;
}

LoadOptions load_options(std::string_view base, const std::vector<std::string>& search_paths, bool strict,
                         double friction, double restitution) {
  constexpr Name<Base> kBases[] = {{Base::fixed, "fixed"}, {Base::free, "free"}};
  LoadOptions out{.base = from_name(kBases, "base", base), .strict = strict};
  out.friction = friction;
  out.restitution = restitution;
  for (const std::string& path : search_paths) out.search_paths.emplace_back(path);
  return out;
}

/// With other parameters, and the scales of the first.
SharedWorld changed_world(const SharedWorld& s, const nb::dict& values) {
  std::vector<StepParameter> parameters;
  VectorX numbers(static_cast<Eigen::Index>(values.size()));
  for (auto [name, value] : values) {
    numbers[static_cast<Eigen::Index>(parameters.size())] = nb::cast<double>(value);
    parameters.push_back(read_parameter(*s.world, nb::cast<std::string>(name)));
  }
  SharedWorld out = s;
  out.world = std::make_shared<const World>(with_parameters(*s.world, parameters, numbers));
  out.memory = std::make_shared<Pool<StepMemory>>();
  return out;
}

nb::tuple options_state(const WorldOptions& o) {
  return nb::make_tuple(o.time_step, to_name(kIntegrators, o.integrator), std::string(to_string(o.formulation)),
                        AllContactOptions(o.contact, o.hard), o.smooth);
}

WorldOptions options_from_state(const nb::tuple& s) {
  if (s.size() != 5) throw InputError("world", "has another state");
  WorldOptions out{.time_step = nb::cast<double>(s[0]),
                   .integrator = from_name(kIntegrators, "integrator", nb::cast<std::string>(s[1])),
                   .formulation = formulation_from(nb::cast<std::string>(s[2])),
                   .smooth = nb::cast<SmoothOptions>(s[4])};
  nb::cast<AllContactOptions>(s[3]).copy_to(out);
  return out;
}

nb::tuple world_state(const SharedWorld& s) {
  nb::list actuators;
  for (const Actuator& actuator : s.world->actuators()) actuators.append(nb::cast(actuator));
  nb::list keyframes;
  for (const Keyframe& k : s.keyframes)
    keyframes.append(nb::make_tuple(k.name, to_array(k.q), to_array(k.v), to_array(k.control)));
  return nb::make_tuple(model_state(s.model()), model_state(*s.scaled_by), nb::tuple(actuators),
                        options_state(s.world->options()), to_array(s.start.q), to_array(s.start.v),
                        nb::tuple(keyframes), s.notices);
}

VectorX saved_vector(const nb::object& state) { return read_vector({state}, "state"); }

SharedWorld world_from_state(const nb::tuple& state) {
  if (state.size() != 8) throw InputError("world", "has another state");
  const Model model = model_from_state(nb::cast<nb::tuple>(state[0]));
  const Model scaled_by = model_from_state(nb::cast<nb::tuple>(state[1]));
  std::vector<Actuator> actuators;
  for (nb::handle one : nb::cast<nb::tuple>(state[2])) actuators.push_back(nb::cast<Actuator>(one));
  SharedWorld out;
  const World first(scaled_by, std::move(actuators), options_from_state(nb::cast<nb::tuple>(state[3])));
  out.world = std::make_shared<const World>(first.with_model(model));
  out.scaled_by = std::make_shared<const Model>(scaled_by);
  out.start = {saved_vector(state[4]), saved_vector(state[5])};
  require_state(*out.world, {out.start});
  for (nb::handle one : nb::cast<nb::tuple>(state[6])) {
    const auto k = nb::cast<nb::tuple>(one);
    if (k.size() != 4) throw InputError("keyframe", "has another state");
    out.keyframes.push_back({nb::cast<std::string>(k[0]), saved_vector(k[1]), saved_vector(k[2]), saved_vector(k[3])});
  }
  out.notices = nb::cast<std::vector<std::string>>(state[7]);
  return out;
}

WorldState make_state(const SharedWorld& s, const std::optional<Numbers>& q, const std::optional<Numbers>& v) {
  WorldState out{s.start};
  if (q) out.value.q = read_vector(*q, "q", s.world->nq());
  if (v) out.value.v = read_vector_or_scalar(*v, "v", s.world->nv());
  return out;
}

std::string next_to(const std::vector<Keyframe>& keyframes) {
  std::string text;
  for (const Keyframe& k : keyframes) text += (text.empty() ? "" : ", ") + k.name;
  return text.empty() ? "there are none" : "there are: " + text;
}

WorldState keyframe_state(const SharedWorld& s, const std::string& name) {
  for (const Keyframe& k : s.keyframes)
    if (k.name == name) {
      WorldState out{s.start};
      if (k.q.size() == out.value.q.size()) out.value.q = k.q;
      if (k.v.size() == out.value.v.size()) out.value.v = k.v;
      return out;
    }
  throw InputError("keyframe", "there is none named '" + name + "'; " + next_to(s.keyframes));
}

void set_numbers(VectorX& to, const Numbers& from, const char* name) {
  to = read_vector_or_scalar(from, name, to.size());
}

void bind_state(nb::module_& m) {
  nb::class_<WorldState>(
      m, "State",
      "Configuration q and velocity v. Both are arrays that can be written to. A state that a step made "
      "also remembers that step's contacts, for the next one to start from; `forget` drops them.")
      .def(
          "__init__",
          [](WorldState* self, const Numbers& q, const Numbers& v) {
            new (self) WorldState{{read_vector(q, "q"), read_vector(v, "v")}};
          },
          "q"_a, "v"_a, "From two vectors.")
      .def_prop_rw(
          "q",
          [](const nb::handle_t<WorldState>& s) {
            State& state = ready<WorldState>(s).value;
            return view_array({static_cast<std::size_t>(state.q.size())}, state.q.data(), s);
          },
          [](WorldState& s, const Numbers& q) { set_numbers(s.value.q, q, "q"); }, "The configuration, (nq,).")
      .def_prop_rw(
          "v",
          [](const nb::handle_t<WorldState>& s) {
            State& state = ready<WorldState>(s).value;
            return view_array({static_cast<std::size_t>(state.v.size())}, state.v.data(), s);
          },
          [](WorldState& s, const Numbers& v) { set_numbers(s.value.v, v, "v"); }, "The velocity, (nv,).")
      .def_prop_ro(
          "status", [](const WorldState& s) { return to_name(kStatuses, s.status); },
          "Of the step that made it: `solved`, `approximate_contact` (the best impulses found were applied) or "
          "`not_finite` (the numbers ran away: this is the state before the step).")
      .def(
          "forget", [](WorldState& s) { s.warm = {}; }, "The next step from here starts cold.")
      .def(
          "copy", [](const WorldState& s) { return s; }, "Another state with the same numbers.")
      .def("__copy__", [](const WorldState& s) { return s; })
      .def("__deepcopy__", [](const WorldState& s, nb::handle) { return s; })
      .def("__getstate__", [](const WorldState& s) { return nb::make_tuple(to_array(s.value.q), to_array(s.value.v)); })
      .def("__setstate__",
           [](WorldState& s, const nb::tuple& state) {
             if (state.size() != 2) throw InputError("state", "has another form");
             new (&s) WorldState{{saved_vector(state[0]), saved_vector(state[1])}};
           })
      .def(
          "__eq__",
          [](const WorldState& a, const WorldState& b) {
            return a.value.q.size() == b.value.q.size() && a.value.v.size() == b.value.v.size() &&
                   a.value.q == b.value.q && a.value.v == b.value.v;
          },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const nb::handle_t<WorldState>& s) {
        return std::string("State(q=") + nb::repr(s.attr("q")).c_str() + ", v=" + nb::repr(s.attr("v")).c_str() + ")";
      });
}

void bind_robot(nb::module_& m) {
  nb::class_<Keyframe>(m, "Keyframe", "A state saved in a file.")
      .def_ro("name", &Keyframe::name, "Of the state.")
      .def_prop_ro(
          "q", [](const Keyframe& k) { return to_array(k.q); }, "(nq,).")
      .def_prop_ro(
          "v", [](const Keyframe& k) { return to_array(k.v); }, "(nv,).")
      .def_prop_ro(
          "control", [](const Keyframe& k) { return to_array(k.control); }, "(nu,).");
  nb::class_<Robot>(m, "Robot", "What is in a robot file.")
      .def_prop_ro(
          "model", [](const Robot& r) { return SharedModel(r.model); }, "The bodies.")
      .def_ro("actuators", &Robot::actuators, "May be empty.")
      .def_ro("keyframes", &Robot::keyframes, "May be empty.")
      .def_prop_ro(
          "notices",
          [](const Robot& r) {
            std::vector<std::string> out;
            for (const Notice& notice : r.notices) out.push_back(to_string(notice));
            return out;
          },
          "What of the file was not understood, or only in part.")
      .def_ro("time_step", &Robot::time_step, "Of the file, if it names one.");
  m.def(
      "load_robot",
      [](const std::filesystem::path& file, std::string_view base, const std::vector<std::string>& search_paths,
         bool strict, double friction, double restitution) {
        return load_robot(file, load_options(base, search_paths, strict, friction, restitution));
      },
      "file"_a, nb::kw_only(), "base"_a = "fixed", "search_paths"_a = std::vector<std::string>(), "strict"_a = false,
      "friction"_a = 1.0, "restitution"_a = 0.0,
      "A robot from URDF or MJCF. `base`: what holds the root of a URDF, fixed or free; `strict`: notices are errors.");
  m.def(
      "_load",
      [](const std::filesystem::path& file, std::optional<double> time_step,
         const std::optional<std::string>& formulation, const std::optional<std::string>& integrator,
         const std::optional<AllContactOptions>& contact, const std::optional<SmoothOptions>& smooth,
         std::string_view base, const std::vector<std::string>& search_paths, bool strict, double friction,
         double restitution) {
        return world_of(load_scene(file, load_options(base, search_paths, strict, friction, restitution)),
                        {time_step, formulation, integrator, contact, smooth});
      },
      "file"_a, nb::kw_only(), "time_step"_a = nb::none(), "formulation"_a = nb::none(), "integrator"_a = nb::none(),
      "contact"_a = nb::none(), "smooth"_a = nb::none(), "base"_a = "fixed",
      "search_paths"_a = std::vector<std::string>(), "strict"_a = false, "friction"_a = 1.0, "restitution"_a = 0.0,
      "See tangere.load.");
  m.def(
      "scene_from_text",
      [](std::string_view text, const std::filesystem::path& file, std::optional<double> time_step,
         const std::optional<std::string>& formulation, const std::optional<std::string>& integrator,
         const std::optional<AllContactOptions>& contact, const std::optional<SmoothOptions>& smooth) {
        return world_of(scene_from_text(text, file), {time_step, formulation, integrator, contact, smooth});
      },
      "text"_a, "file"_a = "scene.json", nb::kw_only(), "time_step"_a = nb::none(), "formulation"_a = nb::none(),
      "integrator"_a = nb::none(), "contact"_a = nb::none(), "smooth"_a = nb::none(),
      "The world of a scene given as JSON; robots are looked for beside `file`, which errors name too.");
}

}  // namespace

void require_state(const World& world, const WorldState& state) {
  if (state.value.q.size() != world.nq() || state.value.v.size() != world.nv())
    throw InputError("state", "must have " + std::to_string(world.nq()) + " positions and " +
                                  std::to_string(world.nv()) + " velocities, got " +
                                  std::to_string(state.value.q.size()) + " and " +
                                  std::to_string(state.value.v.size()));
}

VectorX read_control(const World& world, const Numbers& u) { return read_vector_or_scalar(u, "u", world.nu()); }

StepParameter read_parameter(const World& world, const std::string& name) { return find_step_parameter(world, name); }

std::vector<StepParameter> read_parameters(const World& world, const std::optional<std::vector<std::string>>& names) {
  if (!names) return all_step_parameters(world);
  std::vector<StepParameter> out;
  for (const std::string& name : *names) out.push_back(read_parameter(world, name));
  return out;
}

GradientMode read_gradient_mode(std::string_view name) { return from_name(kGradientModes, "mode", name); }
const char* status_name(StepStatus status) { return to_name(kStatuses, status); }

void bind_world_class(nb::class_<SharedWorld>& c) {
  c.def(
       "__init__",
       [](SharedWorld* self, const SharedModel& model, std::vector<Actuator> actuators, std::optional<double> time_step,
          const std::optional<std::string>& formulation, const std::optional<std::string>& integrator,
          const std::optional<AllContactOptions>& contact, const std::optional<SmoothOptions>& smooth) {
         const WorldArguments arguments{time_step, formulation, integrator, contact, smooth};
         new (self) SharedWorld(
             make_world(*model.model, std::move(actuators), arguments.over({}), neutral_state(*model.model)));
       },
       "model"_a, "actuators"_a = std::vector<Actuator>(), nb::kw_only(), "time_step"_a = nb::none(),
       "formulation"_a = nb::none(), "integrator"_a = nb::none(), "contact"_a = nb::none(), "smooth"_a = nb::none(),
       "Without actuators the control is the generalised force itself. `formulation`: lcp (hard contact), single_level "
       "or bilevel (smooth); `integrator`: semi_implicit or explicit_position.")
      .def(
          "replace",
          [](const SharedWorld& s, std::optional<double> time_step, const std::optional<std::string>& formulation,
             const std::optional<std::string>& integrator, const std::optional<AllContactOptions>& contact,
             const std::optional<SmoothOptions>& smooth) {
            const WorldArguments arguments{time_step, formulation, integrator, contact, smooth};
            SharedWorld out = s;
            out.world = std::make_shared<const World>(s.world->with_options(arguments.over(s.world->options())));
            out.memory = std::make_shared<Pool<StepMemory>>();
            return out;
          },
          nb::kw_only(), "time_step"_a = nb::none(), "formulation"_a = nb::none(), "integrator"_a = nb::none(),
          "contact"_a = nb::none(), "smooth"_a = nb::none(), "The same world with other options.")
      .def_prop_ro(
          "model",
          [](const SharedWorld& s) { return SharedModel(std::shared_ptr<const Model>(s.world, &s.world->model())); },
          "The bodies.")
      .def_prop_ro(
          "actuators", [](const SharedWorld& s) { return s.world->actuators(); }, "May be empty.")
      .def_prop_ro(
          "nq", [](const SharedWorld& s) { return s.world->nq(); }, "Coordinates of a configuration.")
      .def_prop_ro(
          "nv", [](const SharedWorld& s) { return s.world->nv(); }, "Coordinates of a velocity.")
      .def_prop_ro(
          "nu", [](const SharedWorld& s) { return s.world->nu(); }, "Size of a control.")
      .def_prop_ro(
          "lower_control", [](const SharedWorld& s) { return to_array(s.world->lower_control()); },
          "Of the actuators' ranges, (nu,); infinite where there is none.")
      .def_prop_ro(
          "upper_control", [](const SharedWorld& s) { return to_array(s.world->upper_control()); },
          "Of the actuators' ranges, (nu,); infinite where there is none.")
      .def_prop_ro(
          "time_step", [](const SharedWorld& s) { return s.world->options().time_step; }, "Seconds.")
      .def_prop_ro(
          "formulation", [](const SharedWorld& s) { return std::string(to_string(s.world->options().formulation)); },
          "`lcp`, `single_level` or `bilevel`.")
      .def_prop_ro(
          "integrator", [](const SharedWorld& s) { return to_name(kIntegrators, s.world->options().integrator); },
          "`semi_implicit` or `explicit_position`.")
      .def_prop_ro(
          "contact",
          [](const SharedWorld& s) { return AllContactOptions(s.world->options().contact, s.world->options().hard); },
          "A copy of the options.")
      .def_prop_ro(
          "smooth", [](const SharedWorld& s) { return s.world->options().smooth; }, "A copy of the options.")
      .def_ro("notices", &SharedWorld::notices, "What of the file was not understood, or only in part.")
      .def_ro("keyframes", &SharedWorld::keyframes, "States saved in the file.")
      .def(
          "default_state", [](const SharedWorld& s) { return make_state(s, {}, {}); },
          "The state that the file starts from; neutral for worlds made from a model.")
      .def("state", make_state, "q"_a = nb::none(), "v"_a = nb::none(),
           "A state with q and v; those of the default state where not given.")
      .def("keyframe", keyframe_state, "name"_a, "A state saved in the file.")
      .def_prop_ro(
          "parameter_names",
          [](const SharedWorld& s) {
            std::vector<std::string> out;
            for (const StepParameter& p : all_step_parameters(*s.world)) out.push_back(parameter_name(*s.world, p));
            return out;
          },
          "`<body>.mass`, `<body>.<shape>.friction`, `<body>.<shape>.radius`, `gravity.z`, …")
      .def(
          "parameters",
          [](const SharedWorld& s, const std::optional<std::vector<std::string>>& names) {
            return to_array(parameter_values(*s.world, read_parameters(*s.world, names)));
          },
          "names"_a = nb::none(), "Their values; all if no names are given.")
      .def("with_parameters", changed_world, "values"_a,
           "The same world with other values: a dict from names to numbers.")
      .def("__copy__", [](const nb::handle_t<SharedWorld>& s) { return nb::borrow<nb::object>(s); })
      .def("__deepcopy__", [](const nb::handle_t<SharedWorld>& s, nb::handle) { return nb::borrow<nb::object>(s); })
      .def("__getstate__", world_state)
      .def("__setstate__", [](SharedWorld& s, const nb::tuple& t) { new (&s) SharedWorld(world_from_state(t)); })
      .def("__repr__", [](const SharedWorld& s) {
        return "World('" + s.model().name() + "', nq=" + std::to_string(s.world->nq()) +
               ", nv=" + std::to_string(s.world->nv()) + ", nu=" + std::to_string(s.world->nu()) +
               ", time_step=" + nb::repr(nb::float_(s.world->options().time_step)).c_str() + ", formulation='" +
               std::string(to_string(s.world->options().formulation)) + "')";
      });
}

void bind_world_steps(nb::class_<SharedWorld>& c);

void bind_world(nb::module_& m) {
  bind_options(m);
  bind_state(m);
  bind_robot(m);
  nb::class_<SharedWorld> c(m, "World",
                            "A world to simulate: bodies, actuators, and how steps are made. Constant, free to share "
                            "between threads. From `load`, or from a model.");
  bind_world_class(c);
  bind_world_steps(c);
}

}  // namespace tangere::python
