#pragma once

/// The numbers that describe a model, by name and as a vector.
///
///   <body>.mass                          kg
///   <body>.center.x  .y  .z              centre of mass in the body's frame
///   <body>.inertia.xx yy zz xy xz yz     about the centre of mass, body axes
///   <joint>.placement.x y z              of X_PJ, in the parent's axes
///   <joint>.placement.rx ry rz           rotation vector of X_PJ
///   <joint>.damping  .stiffness  .rest  .armature     with [k] for joints of several coordinates
///   gravity.x  .y  .z

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/multibody/model.hpp"

namespace tangere {

struct Parameter {
  enum class Kind { mass, center, inertia, placement, damping, stiffness, rest, armature, gravity };

  Kind kind = Kind::mass;
  /// Body, joint or velocity coordinate; nothing for gravity.
  int index = 0;
  /// Which of x y z, of xx yy zz xy xz yz, of x y z rx ry rz.
  int component = 0;

  bool operator==(const Parameter&) const = default;
};

/// All of a model, in the order of the table above, body by body, joint by joint, coordinate by coordinate.
[[nodiscard]] std::vector<Parameter> all_parameters(const Model& model);
[[nodiscard]] std::string parameter_name(const Model& model, const Parameter& parameter);
/// InputError unless the model has this parameter.
void require_parameter(const Model& model, const Parameter& parameter);
/// How the names of a model's parameters are made, for errors.
[[nodiscard]] std::string parameter_forms();
/// InputError for a name that is none.
[[nodiscard]] Parameter find_parameter(const Model& model, std::string_view name);

[[nodiscard]] VectorX parameter_values(const Model& model, std::span<const Parameter> parameters);
/// The same model with other values; InputError if they are not possible (a negative mass).
[[nodiscard]] Model with_parameters(const Model& model, std::span<const Parameter> parameters,
                                    const Eigen::Ref<const VectorX>& values);

}  // namespace tangere
