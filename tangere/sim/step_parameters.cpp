#include "tangere/sim/step_parameters.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "tangere/contact/pair_friction.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

using Kind = StepParameter::Kind;
constexpr std::array kComponents = {"x", "y", "z", "rx", "ry", "rz"};

std::string shape_name(const World& world, int shape) {
  const SceneShape& at = world.scene().shapes()[shape];
  const std::string& name = world.scene().shape(world.model(), shape).name;
  return world.model().body(at.body).spec.name + "." + (name.empty() ? std::to_string(at.index) : name);
}

ShapePair pair_of(const StepParameter& p) { return {p.shape, p.other_shape}; }

/// Names of the sizes of the world's shapes, each once: `.radius, .size.x`; those of a large polytope by their first.
std::string size_names(const World& world) {
  constexpr std::size_t kMostNames = 12;
  std::vector<std::string> names;
  for (int s = 0; s < static_cast<int>(world.scene().shapes().size()); ++s)
    for (const std::string& name : world.scene().shape(world.model(), s).shape.parameter_names())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  if (names.empty()) return "there are no shapes";
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? "." : ", .") + names[i];
  return names.size() > kMostNames ? text + ", …" : text;
}

int num_sizes(const World& world, int shape) {
  return static_cast<int>(world.scene().shape(world.model(), shape).shape.parameters().size());
}

/// Sets those parameters of a shape that are `here`. False if none is.
template <class IsHere>
bool change_shape(std::span<const StepParameter> parameters, const Eigen::Ref<const VectorX>& values,
                  const IsHere& is_here, CollisionShape& shape) {
  Vector3 turn = so3::log(shape.X_BS.R);
  VectorX sizes = shape.shape.parameters();
  bool changed = false;
  bool turned = false;
  bool resized = false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const StepParameter& p = parameters[i];
    if (!is_here(p)) continue;
    changed = true;
    const double value = values[static_cast<Eigen::Index>(i)];
    if (p.kind == Kind::friction) shape.friction = value;
    if (p.kind == Kind::restitution) shape.restitution = value;
    if (p.kind == Kind::shape_placement && p.component < 3) shape.X_BS.p[p.component] = value;
    if (p.kind == Kind::shape_placement && p.component >= 3) {
      turned = true;
      turn[p.component - 3] = value;
    }
    if (p.kind == Kind::shape_size) {
      resized = true;
      sizes[p.component] = value;
    }
  }
  if (turned) shape.X_BS.R = so3::exp(turn);
  if (resized) shape.shape = shape.shape.with_parameters(sizes);
  return changed;
}

/// Options with the friction of pairs that parameters name; nothing if they name none.
std::optional<ContactOptions> with_pair_friction(ContactOptions options, std::span<const StepParameter> parameters,
                                                 const Eigen::Ref<const VectorX>& values) {
  bool changed = false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const StepParameter& p = parameters[i];
    if (p.kind != Kind::pair_friction) continue;
    changed = true;
    std::erase_if(options.pair_friction, [&](const PairFriction& own) {
      return (own.shape_A == p.shape && own.shape_B == p.other_shape) ||
             (own.shape_A == p.other_shape && own.shape_B == p.shape);
    });
    options.pair_friction.push_back({p.shape, p.other_shape, values[static_cast<Eigen::Index>(i)]});
  }
  if (!changed) return std::nullopt;
  return options;
}

/// The friction of a pair by its name: nothing if that is not of one.
std::optional<StepParameter> find_pair_friction(const World& world, std::string_view name) {
  if (name.find('|') == std::string_view::npos) return std::nullopt;
  const auto count = static_cast<int>(world.scene().shapes().size());
  for (int A = 0; A < count; ++A)
    for (int B = 0; B < count; ++B) {
      const StepParameter parameter{.kind = Kind::pair_friction, .shape = A, .other_shape = B};
      if (A != B && parameter_name(world, parameter) == name) return parameter;
    }
  return std::nullopt;
}

}  // namespace

void require_parameter(const World& world, const StepParameter& p) {
  if (p.kind == Kind::model) {
    require_parameter(world.model(), p.model);
    return;
  }
  const auto count = static_cast<int>(world.scene().shapes().size());
  const auto num_components = [&] { return p.kind == Kind::shape_size ? num_sizes(world, p.shape) : 6; };
  if (p.kind == Kind::pair_friction && !(p.other_shape >= 0 && p.other_shape < count && p.other_shape != p.shape))
    throw InputError("parameter", "is of a pair of shapes that the world does not have");
  const bool good = p.shape >= 0 && p.shape < count && p.component >= 0 && p.component < num_components();
  if (!good) throw InputError("parameter", "is of a shape or component that the world does not have");
}

std::vector<StepParameter> all_step_parameters(const World& world) {
  std::vector<StepParameter> out;
  for (const Parameter& parameter : all_parameters(world.model())) out.push_back({.model = parameter});
  for (int s = 0; s < static_cast<int>(world.scene().shapes().size()); ++s) {
    out.push_back({.kind = Kind::friction, .shape = s});
    out.push_back({.kind = Kind::restitution, .shape = s});
    for (int k = 0; k < 6; ++k) out.push_back({.kind = Kind::shape_placement, .shape = s, .component = k});
    for (int k = 0; k < num_sizes(world, s); ++k) out.push_back({.kind = Kind::shape_size, .shape = s, .component = k});
  }
  return out;
}

std::string parameter_name(const World& world, const StepParameter& parameter) {
  require_parameter(world, parameter);
  switch (parameter.kind) {
    case Kind::model:
      return parameter_name(world.model(), parameter.model);
    case Kind::friction:
      return shape_name(world, parameter.shape) + ".friction";
    case Kind::pair_friction:
      return shape_name(world, parameter.shape) + "|" + shape_name(world, parameter.other_shape) + ".friction";
    case Kind::restitution:
      return shape_name(world, parameter.shape) + ".restitution";
    case Kind::shape_placement:
      return shape_name(world, parameter.shape) + ".placement." + kComponents[parameter.component];
    case Kind::shape_size:
      break;
  }
  const Shape& shape = world.scene().shape(world.model(), parameter.shape).shape;
  return shape_name(world, parameter.shape) + "." + shape.parameter_names()[parameter.component];
}

StepParameter find_step_parameter(const World& world, std::string_view name) {
  if (const std::optional<StepParameter> pair = find_pair_friction(world, name)) return *pair;
  for (const StepParameter& parameter : all_step_parameters(world))
    if (parameter.kind != Kind::model && parameter_name(world, parameter) == name) return parameter;
  for (const Parameter& parameter : all_parameters(world.model()))
    if (parameter_name(world.model(), parameter) == name) return {.model = parameter};
  throw InputError(
      "parameter",
      "the world has no '" + std::string(name) + "'; names are " + parameter_forms() +
          ", <body>.<shape>.friction, .restitution, .placement.x, and what sizes the shape: " + size_names(world));
}

VectorX parameter_values(const World& world, std::span<const StepParameter> parameters) {
  VectorX out(static_cast<Eigen::Index>(parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const StepParameter& p = parameters[i];
    require_parameter(world, p);
    double& value = out[static_cast<Eigen::Index>(i)];
    if (p.kind == Kind::model) {
      value = parameter_values(world.model(), std::span(&p.model, 1))[0];
      continue;
    }
    if (p.kind == Kind::pair_friction) {
      value = friction_of(world.model(), world.scene(), world.options().contact, pair_of(p));
      continue;
    }
    const CollisionShape& shape = world.scene().shape(world.model(), p.shape);
    if (p.kind == Kind::friction) value = shape.friction;
    if (p.kind == Kind::restitution) value = shape.restitution;
    if (p.kind == Kind::shape_placement)
      value = p.component < 3 ? shape.X_BS.p[p.component] : so3::log(shape.X_BS.R)[p.component - 3];
    if (p.kind == Kind::shape_size) value = shape.shape.parameters()[p.component];
  }
  return out;
}

World with_parameters(const World& world, std::span<const StepParameter> parameters,
                      const Eigen::Ref<const VectorX>& values) {
  if (values.size() != static_cast<Eigen::Index>(parameters.size()))
    throw InputError("values", "must have " + std::to_string(parameters.size()) + " entries, one per parameter, got " +
                                   std::to_string(values.size()));
  std::vector<Parameter> of_model;
  std::vector<double> model_values;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    require_parameter(world, parameters[i]);
    if (parameters[i].kind != Kind::model) continue;
    of_model.push_back(parameters[i].model);
    model_values.push_back(values[static_cast<Eigen::Index>(i)]);
  }
  const Eigen::Map<const VectorX> given(model_values.data(), static_cast<Eigen::Index>(model_values.size()));
  const Model changed_model = with_parameters(world.model(), of_model, given);
  ModelBuilder builder(changed_model);

  // shapes: body by body, with all that changes
  for (int b = 0; b < world.model().num_bodies(); ++b) {
    BodySpec body = changed_model.body(b).spec;
    bool changed = false;
    for (std::size_t s = 0; s < body.shapes.size(); ++s) {
      const auto is_here = [&](const StepParameter& p) {
        if (p.kind == Kind::model || p.kind == Kind::pair_friction) return false;
        const SceneShape& at = world.scene().shapes()[p.shape];
        return at.body == b && at.index == static_cast<int>(s);
      };
      changed |= change_shape(parameters, values, is_here, body.shapes[s]);
    }
    if (changed) builder.set_body(b, std::move(body));
  }
  const World out = world.with_model(builder.build());
  const std::optional<ContactOptions> contact = with_pair_friction(world.options().contact, parameters, values);
  if (!contact) return out;
  WorldOptions options = world.options();
  options.contact = *contact;
  return out.with_options(options);
}

}  // namespace tangere
