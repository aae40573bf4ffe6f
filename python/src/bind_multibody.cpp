/// Models, their construction, kinematics, dynamics and derivatives. Functions have the names of C++; the memory they
/// need (`Data`) is kept with the model.

#include "python/src/model.hpp"
#include "tangere/multibody/actuator.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/forward_dynamics_derivatives.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/kinematics_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"
#include "tangere/multibody/parameters.hpp"
#include "tangere/multibody/tangent_map.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

constexpr Name<JointType> kJointTypes[] = {
    {JointType::fixed, "fixed"},   {JointType::revolute, "revolute"},         {JointType::prismatic, "prismatic"},
    {JointType::screw, "screw"},   {JointType::universal, "universal"},       {JointType::ball, "ball"},
    {JointType::planar, "planar"}, {JointType::translation2, "translation2"}, {JointType::translation3, "translation3"},
    {JointType::free, "free"}};

constexpr Name<Actuator::Kind> kActuatorKinds[] = {
    {Actuator::Kind::motor, "motor"}, {Actuator::Kind::position, "position"}, {Actuator::Kind::velocity, "velocity"}};

VectorX positions(const Model& model, const Numbers& q, const char* name = "q") {
  return read_vector(q, name, model.nq());
}
VectorX velocities(const Model& model, const Numbers& v, const char* name = "v") {
  return read_vector_or_scalar(v, name, model.nv());
}

/// Wrenches: none, or one row a body.
std::vector<Vector6> read_wrenches(const Model& model, const std::optional<Numbers>& wrenches) {
  std::vector<Vector6> out;
  if (!wrenches) return out;
  const RowMatrix rows = read_matrix(*wrenches, "wrenches", model.num_bodies(), 6);
  for (int i = 0; i < rows.rows(); ++i) out.emplace_back(rows.row(i));
  return out;
}

std::vector<Parameter> read_parameters(const Model& model, const std::optional<std::vector<std::string>>& names) {
  if (!names) return all_parameters(model);
  std::vector<Parameter> out;
  for (const std::string& name : *names) out.push_back(find_parameter(model, name));
  return out;
}

std::vector<std::string> names_of(const Model& model, const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& parameter : parameters) out.push_back(parameter_name(model, parameter));
  return out;
}

/// Kinematics of one state, in memory of its own.
struct Kinematics {
  std::shared_ptr<const Model> model;
  Data data;
  VectorX q;
  VectorX v;
  bool has_v = false;
  bool has_a = false;

  Kinematics(const SharedModel& shared, const Numbers& q_in, const std::optional<Numbers>& v_in,
             const std::optional<Numbers>& a_in)
      : model(shared.model), data(*model), q(positions(*model, q_in)), has_v(v_in), has_a(a_in) {
    v = v_in ? velocities(*model, *v_in) : VectorX::Zero(model->nv());
    const VectorX a = a_in ? velocities(*model, *a_in, "a") : VectorX::Zero(model->nv());
    forward_kinematics(*model, data, q, v, a);
  }
  [[nodiscard]] int body(const Place& place) const { return read_body(*model, place); }
};

template <class Matrix, class F>
Array filled(const F& function) {
  Matrix out;
  function(out);
  return to_array(out);
}

void bind_kinematics(nb::module_& m) {
  nb::class_<Kinematics>(m, "Kinematics",
                         "Where the bodies of a model are and how they move, at one state. Velocities are [linear; "
                         "angular] in world axes, linear of the body's origin; Jacobians map v to them.")
      .def(nb::init<const SharedModel&, const Numbers&, const std::optional<Numbers>&, const std::optional<Numbers>&>(),
           "model"_a, "q"_a, "v"_a = nb::none(), "a"_a = nb::none(), "At (q, v, a); v and a are zero if not given.")
      .def(
          "body_pose", [](const Kinematics& k, const Place& b) { return body_pose(*k.model, k.data, k.body(b)); },
          "body"_a, "X_WB of a body, by name or index.")
      .def(
          "body_velocity",
          [](const Kinematics& k, const Place& b) { return to_array(body_velocity(*k.model, k.data, k.body(b))); },
          "body"_a, "(6,).")
      .def(
          "body_acceleration",
          [](const Kinematics& k, const Place& b) { return to_array(body_acceleration(*k.model, k.data, k.body(b))); },
          "body"_a, "(6,), without gravity.")
      .def(
          "body_jacobian",
          [](const Kinematics& k, const Place& b) {
            return filled<Matrix6X>([&](Matrix6X& J) { body_jacobian(*k.model, k.data, k.body(b), J); });
          },
          "body"_a, "(6, nv).")
      .def(
          "body_jacobian_rate",
          [](const Kinematics& k, const Place& b) {
            return filled<Matrix6X>([&](Matrix6X& J) { body_jacobian_rate(*k.model, k.data, k.body(b), J); });
          },
          "body"_a, "(6, nv).")
      .def(
          "body_motion_derivatives",
          [](const Kinematics& k, const Place& b) {
            BodyMotionDerivatives out;
            body_motion_derivatives(*k.model, k.data, k.body(b), out);
            return nb::make_tuple(to_array(out.velocity_d_q), to_array(out.acceleration_d_q),
                                  to_array(out.acceleration_d_v));
          },
          "body"_a, "(d velocity / dq, d acceleration / dq, d acceleration / dv), (6, nv) each.")
      .def_prop_ro(
          "center_of_mass", [](const Kinematics& k) { return to_array(center_of_mass(*k.model, k.data)); },
          "(3,), of all mass.")
      .def_prop_ro(
          "center_of_mass_velocity",
          [](const Kinematics& k) { return to_array(center_of_mass_velocity(*k.model, k.data)); }, "(3,).")
      .def_prop_ro(
          "center_of_mass_acceleration",
          [](const Kinematics& k) { return to_array(center_of_mass_acceleration(*k.model, k.data)); }, "(3,).")
      .def_prop_ro(
          "center_of_mass_jacobian",
          [](const Kinematics& k) {
            return filled<Matrix3X>([&](Matrix3X& J) { center_of_mass_jacobian(*k.model, k.data, J); });
          },
          "(3, nv).")
      .def_prop_ro(
          "kinetic_energy", [](const Kinematics& k) { return kinetic_energy(*k.model, k.data, k.v); }, "½ vᵀ M v, J.")
      .def_prop_ro(
          "potential_energy", [](const Kinematics& k) { return potential_energy(*k.model, k.data, k.q); },
          "Of gravity and springs, J.")
      .def_prop_ro(
          "centroidal_momentum", [](const Kinematics& k) { return to_array(centroidal_momentum(*k.model, k.data)); },
          "(6,): linear, and angular about the centre of mass.")
      .def_prop_ro(
          "centroidal_matrix",
          [](const Kinematics& k) {
            return filled<Matrix6X>([&](Matrix6X& A) { centroidal_matrix(*k.model, k.data, A); });
          },
          "(6, nv): momentum = A v.");
}

struct DynamicsDerivatives {
  RowMatrix d_q;
  RowMatrix d_v;
  RowMatrix last;
  VectorX value;
};

void bind_dynamics(nb::module_& m) {
  nb::class_<DynamicsDerivatives>(m, "DynamicsDerivatives",
                                  "Derivatives of inverse or forward dynamics, (nv, nv) each; q moves in its tangent.")
      .def_prop_ro(
          "d_q", [](const DynamicsDerivatives& d) { return to_array(d.d_q); }, "With respect to q.")
      .def_prop_ro(
          "d_v", [](const DynamicsDerivatives& d) { return to_array(d.d_v); }, "With respect to v.")
      .def_prop_ro(
          "d_a", [](const DynamicsDerivatives& d) { return to_array(d.last); },
          "Inverse dynamics: with respect to a, the mass matrix.")
      .def_prop_ro(
          "d_tau", [](const DynamicsDerivatives& d) { return to_array(d.last); },
          "Forward dynamics: with respect to tau, the inverse of the mass matrix.")
      .def_prop_ro(
          "value", [](const DynamicsDerivatives& d) { return to_array(d.value); },
          "The force (inverse dynamics) or the acceleration (forward dynamics).");
  m.def(
      "inverse_dynamics",
      [](const SharedModel& s, const Numbers& q, const Numbers& v, const Numbers& a,
         const std::optional<Numbers>& wrenches) {
        const Model& model = *s.model;
        return to_array(inverse_dynamics(model, *s.data(), positions(model, q), velocities(model, v),
                                         velocities(model, a, "a"), read_wrenches(model, wrenches)));
      },
      "model"_a, "q"_a, "v"_a, "a"_a, "wrenches"_a = nb::none(),
      "The generalised force that gives an acceleration. `wrenches`: (bodies, 6), [force; torque] about the world's "
      "origin.");
  m.def(
      "forward_dynamics",
      [](const SharedModel& s, const Numbers& q, const Numbers& v, const Numbers& tau,
         const std::optional<Numbers>& wrenches) {
        const Model& model = *s.model;
        return to_array(forward_dynamics(model, *s.data(), positions(model, q), velocities(model, v),
                                         velocities(model, tau, "tau"), read_wrenches(model, wrenches)));
      },
      "model"_a, "q"_a, "v"_a, "tau"_a, "wrenches"_a = nb::none(), "The acceleration that a generalised force gives.");
  m.def(
      "bias_forces",
      [](const SharedModel& s, const Numbers& q, const Numbers& v) {
        return to_array(bias_forces(*s.model, *s.data(), positions(*s.model, q), velocities(*s.model, v)));
      },
      "model"_a, "q"_a, "v"_a, "Inverse dynamics at zero acceleration: gravity, velocity, springs, dampers.");
  m.def(
      "inverse_dynamics_derivatives",
      [](const SharedModel& s, const Numbers& q, const Numbers& v, const Numbers& a,
         const std::optional<Numbers>& wrenches) {
        const Model& model = *s.model;
        const auto data = s.data();
        const auto d = inverse_dynamics_derivatives(model, *data, positions(model, q), velocities(model, v),
                                                    velocities(model, a, "a"), read_wrenches(model, wrenches));
        return DynamicsDerivatives{d.d_q, d.d_v, d.d_a, inverse_dynamics_value(*data)};
      },
      "model"_a, "q"_a, "v"_a, "a"_a, "wrenches"_a = nb::none(), "Derivatives of inverse_dynamics: d_q, d_v, d_a.");
  m.def(
      "forward_dynamics_derivatives",
      [](const SharedModel& s, const Numbers& q, const Numbers& v, const Numbers& tau,
         const std::optional<Numbers>& wrenches) {
        const Model& model = *s.model;
        const auto data = s.data();
        const auto d = forward_dynamics_derivatives(model, *data, positions(model, q), velocities(model, v),
                                                    velocities(model, tau, "tau"), read_wrenches(model, wrenches));
        return DynamicsDerivatives{d.d_q, d.d_v, d.d_tau, d.acceleration};
      },
      "model"_a, "q"_a, "v"_a, "tau"_a, "wrenches"_a = nb::none(), "Derivatives of forward_dynamics: d_q, d_v, d_tau.");
  m.def(
      "mass_matrix",
      [](const SharedModel& s, const Numbers& q) {
        return to_array(mass_matrix(*s.model, *s.data(), positions(*s.model, q)));
      },
      "model"_a, "q"_a, "M(q), (nv, nv), armature included.");
  m.def(
      "inverse_mass_matrix",
      [](const SharedModel& s, const Numbers& q) {
        const auto data = s.data();
        (void)mass_matrix(*s.model, *data, positions(*s.model, q));
        factor_mass_matrix(*s.model, *data);
        return to_array(inverse_mass_matrix(*s.model, *data));
      },
      "model"_a, "q"_a, "M(q)⁻¹, (nv, nv).");
  m.def(
      "inverse_dynamics_parameter_derivatives",
      [](const SharedModel& s, const Numbers& q, const Numbers& v, const Numbers& a,
         const std::optional<std::vector<std::string>>& parameters) {
        const Model& model = *s.model;
        MatrixX out;
        inverse_dynamics_parameter_derivatives(model, *s.data(), positions(model, q), velocities(model, v),
                                               velocities(model, a, "a"), read_parameters(model, parameters), out);
        return to_array(out);
      },
      "model"_a, "q"_a, "v"_a, "a"_a, "parameters"_a = nb::none(),
      "d(inverse dynamics) / d(parameters), by name; all of the model if none are given.");
  m.def(
      "forward_dynamics_parameter_derivatives",
      [](const SharedModel& s, const Numbers& q, const Numbers& v, const Numbers& tau,
         const std::optional<std::vector<std::string>>& parameters) {
        const Model& model = *s.model;
        MatrixX out;
        forward_dynamics_parameter_derivatives(model, *s.data(), positions(model, q), velocities(model, v),
                                               velocities(model, tau, "tau"), read_parameters(model, parameters), out);
        return to_array(out);
      },
      "model"_a, "q"_a, "v"_a, "tau"_a, "parameters"_a = nb::none(),
      "d(forward dynamics) / d(parameters), by name; all of the model if none are given.");
  m.def(
      "inertial_regressor",
      [](const SharedModel& s, const Numbers& q, const Numbers& v, const Numbers& a) {
        const Model& model = *s.model;
        MatrixX Y;
        inertial_regressor(model, *s.data(), positions(model, q), velocities(model, v), velocities(model, a, "a"), Y);
        return to_array(Y);
      },
      "model"_a, "q"_a, "v"_a, "a"_a, "Y with τ = Y π + …: ten columns a body.");
  m.def(
      "inertial_moments", [](const SharedModel& s) { return to_array(inertial_moments(*s.model)); }, "model"_a,
      "π of all bodies: (m, m c, I about the origin), ten a body.");
}

void bind_configuration(nb::module_& m) {
  m.def(
      "neutral_configuration", [](const SharedModel& s) { return to_array(neutral_configuration(*s.model)); },
      "model"_a, "Zero, and identity quaternions.");
  m.def(
      "random_configuration",
      [](const SharedModel& s, std::uint64_t seed) {
        Random random(seed);
        return to_array(random_configuration(*s.model, random));
      },
      "model"_a, "seed"_a, "Uniform within the limits.");
  m.def(
      "integrate",
      [](const SharedModel& s, const Numbers& q, const Numbers& delta) {
        VectorX out = positions(*s.model, q);
        const VectorX start = out;
        integrate(*s.model, start, velocities(*s.model, delta, "delta"), out);
        return to_array(out);
      },
      "model"_a, "q"_a, "delta"_a, "q ⊕ δ: quaternions move by R exp(δ), free positions by R δ.");
  m.def(
      "normalized",
      [](const SharedModel& s, const Numbers& q) {
        VectorX out = read_vector(q, "q", s.model->nq());
        normalize(*s.model, out);
        return to_array(out);
      },
      "model"_a, "q"_a, "q with quaternions of length 1.");
  m.def(
      "difference",
      [](const SharedModel& s, const Numbers& q_0, const Numbers& q_1) {
        VectorX out(s.model->nv());
        difference(*s.model, positions(*s.model, q_0, "q_0"), positions(*s.model, q_1, "q_1"), out);
        return to_array(out);
      },
      "model"_a, "q_0"_a, "q_1"_a, "The δ with q_0 ⊕ δ = q_1.");
  m.def(
      "wrench_at",
      [](const Numbers& point, const Numbers& force, const std::optional<Numbers>& torque) {
        return to_array(wrench_at(read_vector3(point, "point"), read_vector3(force, "force"),
                                  torque ? read_vector3(*torque, "torque") : Vector3::Zero()));
      },
      "point"_a, "force"_a, "torque"_a = nb::none(), "The wrench about the world's origin of a force at a point.");
}

nb::dict body_info(const Model& model, int i) {
  const Body& body = model.body(i);
  nb::dict out;
  out["name"] = body.spec.name;
  out["parent"] = body.parent;
  out["mass"] = body.spec.inertia.mass;
  nb::list shapes;
  for (const CollisionShape& shape : body.spec.shapes)
    shapes.append(nb::make_tuple(shape.name, shape.shape, shape.X_BS));
  out["shapes"] = shapes;
  return out;
}

nb::dict joint_info(const Model& model, int i) {
  const Joint& joint = model.joint(i);
  nb::dict out;
  out["name"] = joint.spec.name;
  out["type"] = to_name(kJointTypes, joint.spec.type);
  out["first_q"] = joint.first_q;
  out["first_v"] = joint.first_v;
  out["nq"] = joint.nq;
  out["nv"] = joint.nv;
  return out;
}

void bind_model(nb::module_& m) {
  nb::class_<SharedModel>(
      m, "Model",
      "A system of articulated bodies: constant, free to share between threads. From `load_robot` or "
      "a `ModelBuilder`.")
      .def_prop_ro(
          "name", [](const SharedModel& s) { return s.model->name(); }, "Of the robot.")
      .def_prop_ro(
          "gravity", [](const SharedModel& s) { return to_array(s.model->gravity()); }, "(3,), m/s².")
      .def_prop_ro(
          "num_bodies", [](const SharedModel& s) { return s.model->num_bodies(); }, "As many joints.")
      .def_prop_ro(
          "nq", [](const SharedModel& s) { return s.model->nq(); }, "Coordinates of a configuration.")
      .def_prop_ro(
          "nv", [](const SharedModel& s) { return s.model->nv(); }, "Coordinates of a velocity.")
      .def_prop_ro(
          "total_mass", [](const SharedModel& s) { return s.model->total_mass(); }, "kg.")
      .def_prop_ro(
          "body_names",
          [](const SharedModel& s) {
            std::vector<std::string> out;
            for (const Body& body : s.model->bodies()) out.push_back(body.spec.name);
            return out;
          },
          "In the order of their indices; parents come first.")
      .def_prop_ro(
          "joint_names",
          [](const SharedModel& s) {
            std::vector<std::string> out;
            for (const Joint& joint : s.model->joints()) out.push_back(joint.spec.name);
            return out;
          },
          "Joint i carries body i.")
      .def_prop_ro(
          "dof_names",
          [](const SharedModel& s) {
            std::vector<std::string> out;
            for (int v = 0; v < s.model->nv(); ++v) out.push_back(s.model->dof_name(v));
            return out;
          },
          "One a velocity coordinate.")
      .def(
          "body", [](const SharedModel& s, const Place& b) { return body_info(*s.model, read_body(*s.model, b)); },
          "body"_a, "Name, parent, mass and shapes of a body.")
      .def(
          "joint",
          [](const SharedModel& s, const Place& j) {
            const Model& model = *s.model;
            const int i = PyUnicode_Check(j.object.ptr())
                              ? model.joint_index(nb::cast<std::string>(j.object))
                              : checked_index(nb::cast<long>(j.object), model.num_bodies(), "joint");
            return joint_info(model, i);
          },
          "joint"_a, "Name, type and place in q and v of a joint.")
      .def(
          "body_index", [](const SharedModel& s, std::string_view name) { return s.model->body_index(name); }, "name"_a,
          "By name.")
      .def(
          "joint_index", [](const SharedModel& s, std::string_view name) { return s.model->joint_index(name); },
          "name"_a, "By name.")
      .def_prop_ro(
          "parameter_names", [](const SharedModel& s) { return names_of(*s.model, all_parameters(*s.model)); },
          "`<body>.mass`, `<joint>.damping`, `gravity.z`, …")
      .def(
          "parameters",
          [](const SharedModel& s, const std::optional<std::vector<std::string>>& names) {
            return to_array(parameter_values(*s.model, read_parameters(*s.model, names)));
          },
          "names"_a = nb::none(), "Their values; all if no names are given.")
      .def(
          "with_parameters",
          [](const SharedModel& s, const nb::dict& values) {
            std::vector<Parameter> parameters;
            VectorX numbers(static_cast<Eigen::Index>(values.size()));
            for (auto [name, value] : values) {
              numbers[static_cast<Eigen::Index>(parameters.size())] = nb::cast<double>(value);
              parameters.push_back(find_parameter(*s.model, nb::cast<std::string>(name)));
            }
            return SharedModel(with_parameters(*s.model, parameters, numbers));
          },
          "values"_a, "The same model with other values: a dict from names to numbers.")
      .def("__copy__", [](const nb::handle_t<SharedModel>& s) { return nb::borrow<nb::object>(s); })
      .def("__deepcopy__", [](const nb::handle_t<SharedModel>& s, nb::handle) { return nb::borrow<nb::object>(s); })
      .def("__getstate__", [](const SharedModel& s) { return model_state(*s.model); })
      .def("__setstate__",
           [](SharedModel& s, const nb::tuple& state) { new (&s) SharedModel(model_from_state(state)); })
      .def("__repr__", [](const SharedModel& s) {
        return "Model('" + s.model->name() + "', bodies=" + std::to_string(s.model->num_bodies()) +
               ", nq=" + std::to_string(s.model->nq()) + ", nv=" + std::to_string(s.model->nv()) + ")";
      });
}

struct BodyArguments {
  MassProperties inertia;
  std::vector<CollisionShape> shapes;
};

std::vector<CollisionShape> read_collision_shapes(const nb::handle& shapes) {
  std::vector<CollisionShape> out;
  if (nb::isinstance<Shape>(shapes)) return {{.shape = nb::cast<Shape>(shapes)}};
  if (nb::isinstance<CollisionShape>(shapes)) return {nb::cast<CollisionShape>(shapes)};
  if (!nb::isinstance<nb::sequence>(shapes))
    throw InputError("shapes", "must be a Shape, a CollisionShape, or a list of them");
  for (nb::handle one : nb::cast<nb::sequence>(shapes)) {
    if (nb::isinstance<CollisionShape>(one))
      out.push_back(nb::cast<CollisionShape>(one));
    else if (nb::isinstance<Shape>(one))
      out.push_back({.shape = nb::cast<Shape>(one)});
    else
      throw InputError("shapes[" + std::to_string(out.size()) + "]", "must be a Shape or a CollisionShape");
  }
  return out;
}

BodySpec read_body_spec(const std::string& name, const nb::handle& shapes, double mass,
                        const std::optional<MassProperties>& inertia, double density) {
  BodySpec body{.name = name};
  if (!shapes.is_none()) body.shapes = read_collision_shapes(shapes);
  if (inertia) {
    body.inertia = *inertia;
    return body;
  }
  std::vector<MassProperties> parts;
  for (const CollisionShape& shape : body.shapes)
    if (!shape.shape.is_half_space()) parts.push_back(posed(mass_properties(shape.shape, density), shape.X_BS));
  if (!parts.empty()) body.inertia = combined(parts);
  if (mass >= 0.0 && body.inertia.mass > 0.0) {
    body.inertia.inertia *= mass / body.inertia.mass;
    body.inertia.mass = mass;
  } else if (mass >= 0.0) {
    body.inertia.mass = mass;
  }
  return body;
}

void bind_builder(nb::module_& m) {
  nb::class_<CollisionShape>(m, "CollisionShape", "A shape that collides, posed in its body's frame.")
      .def(
          "__init__",
          [](CollisionShape* self, const Shape& shape, const std::optional<PoseLike>& X_BS, const std::string& name,
             double friction, double restitution, std::uint32_t group, std::uint32_t mask) {
            new (self) CollisionShape{name,  shape, X_BS ? read_pose(*X_BS, "X_BS") : Pose(), friction, restitution,
                                      group, mask};
          },
          "shape"_a, "X_BS"_a = nb::none(), nb::kw_only(), "name"_a = "", "friction"_a = 1.0, "restitution"_a = 0.0,
          "group"_a = 1, "mask"_a = 0xffffffffu,
          "A pair takes the smaller friction and the product of the restitutions; two collide if each one's group is "
          "in "
          "the other's mask.")
      .def_ro("name", &CollisionShape::name, "May be empty.")
      .def_ro("shape", &CollisionShape::shape, "What collides.")
      .def_ro("X_BS", &CollisionShape::X_BS, "Its pose on the body.")
      .def_ro("friction", &CollisionShape::friction, "Coefficient of Coulomb friction.")
      .def_ro("restitution", &CollisionShape::restitution, "Coefficient of restitution.")
      .def_ro("group", &CollisionShape::group, "Bits.")
      .def_ro("mask", &CollisionShape::mask, "Bits.");
  nb::class_<Actuator>(
      m, "Actuator",
      "What turns a control into a force: motor (gain u), position (gain (u - gear q) - damping (gear v)) "
      "or velocity (gain (u - gear v)), times gear, clamped.")
      .def(
          "__init__",
          [](Actuator* self, int dof, const std::string& name, std::string_view kind, double gear, double gain,
             double damping, std::pair<double, double> control, std::pair<double, double> force) {
            new (self) Actuator{name,          from_name(kActuatorKinds, "kind", kind),
                                dof,           gear,
                                gain,          damping,
                                control.first, control.second,
                                force.first,   force.second};
          },
          "dof"_a, nb::kw_only(), "name"_a = "", "kind"_a = "motor", "gear"_a = 1.0, "gain"_a = 1.0, "damping"_a = 0.0,
          "control_range"_a = std::pair(-Actuator::kInfinity, Actuator::kInfinity),
          "force_range"_a = std::pair(-Actuator::kInfinity, Actuator::kInfinity), "Of one velocity coordinate.")
      .def_ro("name", &Actuator::name, "May be empty.")
      .def_prop_ro(
          "kind", [](const Actuator& a) { return to_name(kActuatorKinds, a.kind); },
          "`motor`, `position` or `velocity`.")
      .def_ro("dof", &Actuator::dof, "The velocity coordinate it acts on.")
      .def_ro("gear", &Actuator::gear, "Ratio.")
      .def_ro("gain", &Actuator::gain, "Force a unit of output.")
      .def_ro("damping", &Actuator::damping, "Of position actuators.")
      .def_prop_ro(
          "control_range", [](const Actuator& a) { return std::pair(a.lower_control, a.upper_control); },
          "u is clamped to it.")
      .def_prop_ro(
          "force_range", [](const Actuator& a) { return std::pair(a.lower_force, a.upper_force); },
          "The output is clamped to it.")
      .def("__getstate__",
           [](const Actuator& a) {
             return nb::make_tuple(a.name, to_name(kActuatorKinds, a.kind), a.dof, a.gear, a.gain, a.damping,
                                   a.lower_control, a.upper_control, a.lower_force, a.upper_force);
           })
      .def("__setstate__", [](Actuator& a, const nb::tuple& s) {
        if (s.size() != 10) throw InputError("actuator", "has another state");
        const auto number = [&](std::size_t i) { return nb::cast<double>(s[i]); };
        new (&a) Actuator{nb::cast<std::string>(s[0]),
                          from_name(kActuatorKinds, "kind", nb::cast<std::string>(s[1])),
                          nb::cast<int>(s[2]),
                          number(3),
                          number(4),
                          number(5),
                          number(6),
                          number(7),
                          number(8),
                          number(9)};
      });
  nb::class_<ModelBuilder>(m, "ModelBuilder", "Collects bodies and validates them, one by one.")
      .def(nb::init<std::string>(), "name"_a)
      .def(
          "__init__", [](ModelBuilder* self, const SharedModel& s) { new (self) ModelBuilder(*s.model); }, "model"_a,
          "With everything that a model has, to add to it.")
      .def(
          "set_gravity", [](ModelBuilder& b, const Numbers& g) { b.set_gravity(read_vector3(g, "gravity")); },
          "gravity"_a, "Default (0, 0, -9.81).")
      .def(
          "add_body",
          [](ModelBuilder& b, const std::string& name, const nb::object& shapes, std::string_view joint,
             const std::string& joint_name, const std::optional<std::string>& parent,
             const std::optional<PoseLike>& X_PJ, const std::optional<Numbers>& axis, double mass,
             const std::optional<MassProperties>& inertia, double density, double damping, double stiffness,
             double armature, double friction, std::optional<std::pair<double, double>> limits) {
            JointSpec spec{.name = joint_name, .type = from_name(kJointTypes, "joint", joint)};
            if (X_PJ) spec.X_PJ = read_pose(*X_PJ, "X_PJ");
            if (axis) spec.axis = read_vector3(*axis, "axis");
            DofSpec dof{.damping = damping, .stiffness = stiffness, .armature = armature, .friction = friction};
            if (limits) {
              dof.lower = limits->first;
              dof.upper = limits->second;
            }
            if (num_velocities(spec.type) > 0) spec.dofs = {dof};
            BodySpec body = read_body_spec(name, shapes, mass, inertia, density);
            return parent ? b.add_body(std::move(body), std::move(spec), std::string_view(*parent))
                          : b.add_body(std::move(body), std::move(spec));
          },
          "name"_a, "shapes"_a = nb::none(), nb::kw_only(), "joint"_a = "free", "joint_name"_a = "",
          "parent"_a = nb::none(), "X_PJ"_a = nb::none(), "axis"_a = nb::none(), "mass"_a = -1.0,
          "inertia"_a = nb::none(), "density"_a = 1000.0, "damping"_a = 0.0, "stiffness"_a = 0.0, "armature"_a = 0.0,
          "friction"_a = 0.0, "limits"_a = nb::none(),
          "Adds a body with its shapes (one, or a list of Shape or CollisionShape) and the joint it hangs from; "
          "answers "
          "with its index. The inertia is that of the shapes at `density`, scaled to `mass` if that is given.")
      .def_prop_ro("num_bodies", &ModelBuilder::num_bodies, "So far.")
      .def(
          "exclude_pair",
          [](ModelBuilder& b, const std::string& A, const std::string& B) {
            for (const std::string* name : {&A, &B})
              if (b.find_body(*name) < 0) throw InputError("body", "there is none named '" + *name + "'");
            b.exclude_pair(b.find_body(A), b.find_body(B));
          },
          "body_A"_a, "body_B"_a, "Two bodies that never collide.")
      .def(
          "build", [](const ModelBuilder& b) { return SharedModel(b.build()); }, "The model.");
}

}  // namespace

int read_body(const Model& model, const Place& place) {
  if (PyUnicode_Check(place.object.ptr())) return model.body_index(nb::cast<std::string>(place.object));
  return checked_index(nb::cast<long>(place.object), model.num_bodies(), "body");
}

void bind_multibody(nb::module_& m) {
  bind_model(m);
  bind_builder(m);
  bind_kinematics(m);
  bind_dynamics(m);
  bind_configuration(m);
}

}  // namespace tangere::python
