/// Models as tuples of plain things, for pickle.

#include "python/src/model.hpp"
#include "tangere/io/shape_json.hpp"

namespace tangere::python {
namespace {

nb::tuple save(const Pose& X) { return nb::make_tuple(to_array(X.R), to_array(X.p)); }

/// The fields of a tuple, one after the other.
class Fields {
 public:
  explicit Fields(const nb::handle& tuple) : tuple_(nb::cast<nb::tuple>(tuple)) {}
  nb::object next() {
    if (at_ >= tuple_.size()) throw InputError("state", "is not that of a model of this version");
    return tuple_[at_++];
  }
  template <class T>
  T next() {
    return nb::cast<T>(next());
  }
  Vector3 vector3() {
    const nb::object field = next();
    return read_vector3({field}, "state");
  }
  Matrix3 matrix3() {
    const nb::object field = next();
    return read_matrix({field}, "state", 3, 3);
  }
  Pose pose() {
    Fields fields(next());
    const Matrix3 R = fields.matrix3();
    return {R, fields.vector3()};
  }
  Shape shape() { return shape_from_json(next<std::string>()); }

 private:
  nb::tuple tuple_;
  std::size_t at_ = 0;
};

template <class Items, class F>
nb::tuple save_all(const Items& items, const F& save_one) {
  nb::list out;
  for (const auto& item : items) out.append(save_one(item));
  return nb::tuple(out);
}

nb::tuple save(const CollisionShape& s) {
  return nb::make_tuple(s.name, shape_to_json(s.shape), save(s.X_BS), s.friction, s.restitution, s.group, s.mask);
}

CollisionShape load_collision_shape(const nb::handle& state) {
  Fields f(state);
  const auto name = f.next<std::string>();
  Shape shape = f.shape();
  const Pose X = f.pose();
  const auto friction = f.next<double>();
  const auto restitution = f.next<double>();
  const auto group = f.next<std::uint32_t>();
  return {name, std::move(shape), X, friction, restitution, group, f.next<std::uint32_t>()};
}

nb::tuple save(const VisualShape& s) {
  nb::object geometry;
  if (const auto* shape = std::get_if<Shape>(&s.geometry))
    geometry = nb::cast(shape_to_json(*shape));
  else
    geometry = nb::cast(*std::get<std::shared_ptr<const TriangleMesh>>(s.geometry));
  return nb::make_tuple(s.name, geometry, save(s.X_BV), to_array(s.color));
}

VisualShape load_visual(const nb::handle& state) {
  Fields f(state);
  VisualShape out{.name = f.next<std::string>(), .geometry = std::shared_ptr<const TriangleMesh>()};
  const nb::object geometry = f.next();
  if (nb::isinstance<TriangleMesh>(geometry))
    out.geometry = std::make_shared<const TriangleMesh>(nb::cast<TriangleMesh>(geometry));
  else
    out.geometry = shape_from_json(nb::cast<std::string>(geometry));
  out.X_BV = f.pose();
  const nb::object color = f.next();
  out.color = read_vector({color}, "color", 4);
  return out;
}

nb::tuple save(const BodySpec& b) {
  return nb::make_tuple(b.name, b.inertia.mass, to_array(b.inertia.center), to_array(b.inertia.inertia),
                        save_all(b.shapes, [](const CollisionShape& s) { return save(s); }),
                        save_all(b.visuals, [](const VisualShape& s) { return save(s); }));
}

BodySpec load_body(const nb::handle& state) {
  Fields f(state);
  BodySpec out{.name = f.next<std::string>()};
  out.inertia.mass = f.next<double>();
  out.inertia.center = f.vector3();
  out.inertia.inertia = f.matrix3();
  for (nb::handle one : f.next<nb::tuple>()) out.shapes.push_back(load_collision_shape(one));
  for (nb::handle one : f.next<nb::tuple>()) out.visuals.push_back(load_visual(one));
  return out;
}

nb::tuple save(const DofSpec& d) {
  return nb::make_tuple(d.lower, d.upper, d.velocity, d.effort, d.damping, d.stiffness, d.rest, d.armature, d.friction);
}

DofSpec load_dof(const nb::handle& state) {
  Fields f(state);
  DofSpec d;
  for (double* value :
       {&d.lower, &d.upper, &d.velocity, &d.effort, &d.damping, &d.stiffness, &d.rest, &d.armature, &d.friction})
    *value = f.next<double>();
  return d;
}

nb::tuple save(const JointSpec& j) {
  nb::object mimic = nb::none();
  if (j.mimic) mimic = nb::make_tuple(j.mimic->source, j.mimic->multiplier, j.mimic->offset);
  return nb::make_tuple(j.name, static_cast<int>(j.type), save(j.X_PJ), save(j.X_CJ), to_array(j.axis),
                        to_array(j.axis2), j.pitch, save_all(j.dofs, [](const DofSpec& d) { return save(d); }), mimic);
}

JointSpec load_joint(const nb::handle& state) {
  Fields f(state);
  JointSpec j{.name = f.next<std::string>()};
  j.type = static_cast<JointType>(checked_index(f.next<long>(), static_cast<int>(JointType::free) + 1, "joint type"));
  j.X_PJ = f.pose();
  j.X_CJ = f.pose();
  j.axis = f.vector3();
  j.axis2 = f.vector3();
  j.pitch = f.next<double>();
  for (nb::handle one : f.next<nb::tuple>()) j.dofs.push_back(load_dof(one));
  const nb::object mimic = f.next();
  if (!mimic.is_none()) {
    Fields m(mimic);
    const auto source = m.next<std::string>();
    const auto multiplier = m.next<double>();
    j.mimic = Mimic{source, multiplier, m.next<double>()};
  }
  return j;
}

nb::tuple save(const LoopConstraint& c) {
  return nb::make_tuple(c.name, c.kind == LoopConstraint::Kind::weld, c.body_A, c.body_B, save(c.X_AC), save(c.X_BC));
}

LoopConstraint load_constraint(const nb::handle& state) {
  Fields f(state);
  LoopConstraint c{.name = f.next<std::string>()};
  c.kind = f.next<bool>() ? LoopConstraint::Kind::weld : LoopConstraint::Kind::connect;
  c.body_A = f.next<int>();
  c.body_B = f.next<int>();
  c.X_AC = f.pose();
  c.X_BC = f.pose();
  return c;
}

}  // namespace

nb::tuple model_state(const Model& model) {
  nb::list bodies;
  for (int i = 0; i < model.num_bodies(); ++i)
    bodies.append(nb::make_tuple(save(model.body(i).spec), save(model.joint(i).spec), model.body(i).parent));
  return nb::make_tuple(
      model.name(), to_array(model.gravity()), nb::tuple(bodies),
      save_all(model.excluded_pairs(), [](const std::pair<int, int>& p) { return nb::make_tuple(p.first, p.second); }),
      save_all(model.constraints(), [](const LoopConstraint& c) { return save(c); }));
}

Model model_from_state(const nb::tuple& state) {
  Fields f(state);
  ModelBuilder builder(f.next<std::string>());
  builder.set_gravity(f.vector3());
  for (nb::handle one : f.next<nb::tuple>()) {
    Fields body(one);
    BodySpec spec = load_body(body.next());
    JointSpec joint = load_joint(body.next());
    builder.add_body(std::move(spec), std::move(joint), body.next<int>());
  }
  for (nb::handle one : f.next<nb::tuple>()) {
    Fields pair(one);
    const int first = pair.next<int>();
    builder.exclude_pair(first, pair.next<int>());
  }
  for (nb::handle one : f.next<nb::tuple>()) builder.add_constraint(load_constraint(one));
  return builder.build();
}

}  // namespace tangere::python
