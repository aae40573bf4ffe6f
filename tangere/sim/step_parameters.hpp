#pragma once

/// The parameters of a world, and the derivative of a step with respect to them.
///
/// Beside those of the model (multibody/parameters.hpp):
///
///   <body>.<shape>.friction  .restitution       <shape>: its name, or its number on the body if that is empty
///   <body>.<shape>|<body>.<shape>.friction      of a pair, which is then its own (ContactOptions::pair_friction)
///   <body>.<shape>.placement.x y z rx ry rz     X_BS: in the body's axes, and its rotation vector
///   <body>.<shape>.radius  .size.x  …           sizes of the shape (Shape::parameter_names); masses stay as they are

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/contact/step_parameter.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere {

/// All but the friction of pairs, of which there are many.
[[nodiscard]] std::vector<StepParameter> all_step_parameters(const World& world);
/// InputError unless the world has this parameter.
void require_parameter(const World& world, const StepParameter& parameter);
[[nodiscard]] std::string parameter_name(const World& world, const StepParameter& parameter);
/// InputError for a name that is none.
[[nodiscard]] StepParameter find_step_parameter(const World& world, std::string_view name);
[[nodiscard]] VectorX parameter_values(const World& world, std::span<const StepParameter> parameters);
/// The same world with other values (and the same scales of compliances); InputError if they are not possible.
[[nodiscard]] World with_parameters(const World& world, std::span<const StepParameter> parameters,
                                    const Eigen::Ref<const VectorX>& values);

/// nv x the number of parameters.
struct StepParameterJacobians {
  MatrixX q;
  MatrixX v;
};

/// Derivatives of the next state with sets held. The friction of a pair is the smaller of two: the other one has no
/// effect, and of equals each has half (GradientQuality::halved_at_tie); the friction of the pair itself has no tie.
/// The constants that scale the compliance are held, which matters only where rows repeat each other and slide in
/// different directions. Contacts whose features do not live on as a shape grows (contact/scene/contact_size.hpp) are
/// taken to stay where they are: features are held where such a contact takes part and the size is asked for.
[[nodiscard]] GradientQuality step_parameter_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                                                       std::span<const StepParameter> parameters,
                                                       StepParameterJacobians& out);

}  // namespace tangere
