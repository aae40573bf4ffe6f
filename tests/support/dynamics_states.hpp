#pragma once

/// Models and states at which the dynamics is compared with other engines (tests/oracles/*_dynamics.cpp), and how far
/// two answers are apart. The oracles and the test of their fixtures both draw from here, so that a fixture needs to
/// keep the seed only.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include "tangere/io/scene_file.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/model.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/robot_files.hpp"

namespace tangere::test {

inline constexpr int kDynamicsStates = 100;

/// `scenes/…` is a file of this repository, `robots/…` one of other people's (robot_files.hpp), `models/…` one of
/// all_models.hpp.
struct DynamicsCase {
  std::string name;
  /// Of URDF files.
  Base base = Base::fixed;
  /// Without: for engines that have none.
  bool armature = true;
};

inline std::filesystem::path dynamics_file(const std::string& name) {
  const std::string scenes = "scenes/";
  const std::string robots = "robots/";
  if (name.starts_with(scenes)) return scenes_folder() / name.substr(scenes.size());
  if (name.starts_with(robots)) return robot_file(name.substr(robots.size()));
  return {};
}

inline Model without_armature(const Model& model) {
  ModelBuilder builder(model);
  for (int i = 0; i < model.num_bodies(); ++i) {
    JointSpec joint = model.joint(i).spec;
    for (DofSpec& dof : joint.dofs) dof.armature = 0.0;
    builder.set_joint(i, joint);
  }
  return builder.build();
}

/// Nothing if the file is not at hand.
inline std::optional<Model> dynamics_model(const DynamicsCase& which) {
  std::optional<Model> model;
  for (const NamedModel& entry : all_models())
    if (which.name == "models/" + entry.name) model = entry.model;
  const std::filesystem::path file = dynamics_file(which.name);
  if (!file.empty()) model = load_scene(file, {.base = which.base}).robot.model;
  if (model && !which.armature) model = without_armature(*model);
  return model;
}

struct DynamicsState {
  VectorX q;
  VectorX v;
  VectorX a;
  VectorX tau;
  /// For M w.
  VectorX w;
};

/// The next state. The order of the draws is part of the fixtures: q, v, a, tau (times 10), w.
inline DynamicsState random_dynamics_state(const Model& model, Random& random) {
  DynamicsState state;
  state.q = random_configuration(model, random);
  state.v = random_vector(model.nv(), random);
  state.a = random_vector(model.nv(), random);
  state.tau = 10.0 * random_vector(model.nv(), random);
  state.w = random_vector(model.nv(), random);
  return state;
}

/// What makes coordinates of different units comparable: sqrt(M_ii).
inline VectorX inertia_scale(const MatrixX& M) { return M.diagonal().cwiseSqrt(); }

/// The largest difference of generalised forces over the largest force, each divided by its scale.
inline double force_error(const VectorX& x, const VectorX& expected, const VectorX& scale) {
  const double difference = (x - expected).cwiseQuotient(scale).lpNorm<Eigen::Infinity>();
  return difference / std::max(expected.cwiseQuotient(scale).lpNorm<Eigen::Infinity>(), 1e-300);
}

/// The same of accelerations, each times its scale.
inline double acceleration_error(const VectorX& x, const VectorX& expected, const VectorX& scale) {
  const double difference = (x - expected).cwiseProduct(scale).lpNorm<Eigen::Infinity>();
  return difference / std::max(expected.cwiseProduct(scale).lpNorm<Eigen::Infinity>(), 1e-300);
}

/// The largest |ΔM_ij| / sqrt(M_ii M_jj).
inline double mass_matrix_error(const MatrixX& M, const MatrixX& expected) {
  const VectorX inverse = inertia_scale(expected).cwiseInverse();
  return (inverse.asDiagonal() * (M - expected) * inverse.asDiagonal()).cwiseAbs().maxCoeff();
}

/// Relative to the distance from the world's origin, of at least a metre.
inline double position_error(const Vector3& p, const Vector3& expected) {
  return (p - expected).norm() / std::max(1.0, expected.norm());
}

/// Of the elements of the matrix.
inline double rotation_error(const Matrix3& R, const Matrix3& expected) { return (R - expected).cwiseAbs().maxCoeff(); }

inline double kinetic_error(double energy, double expected) {
  return std::abs(energy - expected) / std::max(expected, 1e-300);
}

/// Relative to the weight one metre up, at least.
inline double potential_error(const Model& model, double energy, double expected) {
  const double weight = model.total_mass() * model.gravity().norm();
  return std::abs(energy - expected) / std::max({weight, std::abs(expected), 1e-300});
}

}  // namespace tangere::test
