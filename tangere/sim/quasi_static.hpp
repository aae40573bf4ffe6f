#pragma once

/// Steps without momentum: each begins at rest, so bodies move as far as their springs, servos, weights and contacts
/// take them within one time step, and stop. For manipulation that is slow: pushing, grasping, insertion.
///
///   q' = q ⊕ dt v⁺,   v⁺ the velocity after a step from (q, 0) with control u
///
/// A light finger on a servo of stiffness k goes to its command in one step where dt² k is well above its mass.

#include "tangere/sim/step_derivatives.hpp"

namespace tangere {

/// The configuration after such a step, a function of its arguments alone (cold start). `next` may be `q`. Throws
/// InputError as `step` does.
StepStatus quasi_static_step(const World& world, VectorArgument q, VectorArgument u, Workspace& workspace,
                             VectorX& next, Tape* tape = nullptr);

/// dq' / dq (nv x nv) and dq' / du (nv x nu), tangents, of the step that left the tape.
[[nodiscard]] GradientQuality quasi_static_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                                                     MatrixX& q_q, MatrixX& q_u);

}  // namespace tangere
