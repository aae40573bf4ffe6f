#pragma once

/// Everything that users include, in the order in which one thing stands on another. Each header says at its top how
/// it is used.

// shapes
#include "tangere/geometry/bounds.hpp"
#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/obstacles.hpp"
#include "tangere/geometry/shape.hpp"
#include "tangere/geometry/support.hpp"

// pairs of shapes
#include "tangere/proximity/answers.hpp"
#include "tangere/proximity/batch.hpp"
#include "tangere/proximity/broad_phase.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/manifold.hpp"
#include "tangere/proximity/proximity.hpp"
#include "tangere/proximity/proximity_derivatives.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

// robots
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/forward_dynamics_derivatives.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/kinematics_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/multibody/model.hpp"
#include "tangere/multibody/model_error.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"
#include "tangere/multibody/parameters.hpp"
#include "tangere/multibody/points.hpp"

// steps with contact, and their derivatives
#include "tangere/sim/batch.hpp"
#include "tangere/sim/clearance.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/rays.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/sim/simulator.hpp"
#include "tangere/sim/step.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/step_diagnosis.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tangere/sim/swept_clearance.hpp"
#include "tangere/sim/world.hpp"

// optimal control
#include "tangere/trajopt/constraints.hpp"
#include "tangere/trajopt/costs.hpp"
#include "tangere/trajopt/identify.hpp"
#include "tangere/trajopt/keep_apart.hpp"
#include "tangere/trajopt/optimizer.hpp"
#include "tangere/trajopt/problem.hpp"
#include "tangere/trajopt/restarts.hpp"
#include "tangere/trajopt/search.hpp"
#include "tangere/trajopt/verification.hpp"

// files
#include "tangere/io/mesh_file.hpp"
#include "tangere/io/problem_file.hpp"
#include "tangere/io/recording.hpp"
#include "tangere/io/recording_export.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/io/robot_file.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/io/shape_json.hpp"
