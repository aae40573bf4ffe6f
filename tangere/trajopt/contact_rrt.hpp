#pragma once

/// Rapidly exploring random trees through contact, over quasi-static steps (sim/quasi_static.hpp): a few coordinates of
/// the world, the object, are to be brought somewhere by servos that touch it.
///
/// The derivative of the object in the commands, B = ∂object' / ∂command at smoothed contact, says in which directions
/// the object can be moved from a node, also by fingers that do not touch it yet. So the distance from a node to a
/// sample s is
///
///   d = ½ (s - μ)ᵀ (B Bᵀ + γ 1)⁻¹ (s - μ),     μ: the object after a step with the commands held,
///
/// and the way towards it δu = (Bᵀ B + 0.01)⁻¹ Bᵀ (s - μ), at most `step` long, again and again while it leads nearer.
/// Now and then the fingers are placed anew about the object instead (a regrasp), where the object stays as it is
/// without them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tangere/math/random.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// A configuration whose fingers are placed anew, and the command that holds them there. False if none is found.
using GraspSampler = std::function<bool(Random& random, const VectorX& q, VectorX& q_new, VectorX& command)>;

struct ContactRrtProblem {
  /// Its formulation and kappa are those of the steps; set SmoothOptions::gradient_kappa for B.
  World world;
  /// Configuration and command at the start.
  VectorX start;
  VectorX command;
  /// Velocity coordinates of the object, of hinges and slides.
  std::vector<int> object{};
  VectorX goal{};
  /// The box from which samples of the object are drawn.
  VectorX lower{};
  VectorX upper{};
  GraspSampler grasp{};
};

struct ContactRrtOptions {
  int max_nodes = 1000;
  /// Trees, one after the other, each of at most so many nodes.
  int trees = 5;
  /// Steps on towards one sample.
  int most_steps = 10;
  /// γ, the length of a step of the commands, and the parts of samples that are the goal and of regrasps.
  double regularisation = 3e-3;
  double step = 0.2;
  double goal_bias = 0.5;
  double regrasp = 0.1;
  /// Ends where d to the goal is below, and every coordinate of the object is nearer than `goal_error`.
  double goal_distance = 0.05;
  double goal_error = 0.02;
  /// How far an object may move without its fingers before a regrasp, per coordinate.
  double rest = 5e-3;
  std::uint64_t seed = 1;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// A step of a plan: the command, and the configuration after it. With `regrasp` the fingers are placed there first.
struct GraspStep {
  VectorX q;
  VectorX command;
  bool regrasp = false;
};

struct ContactRrtResult {
  bool reached = false;
  /// From the start (the first entry) to the node nearest the goal.
  std::vector<GraspStep> plan;
  /// The largest coordinate of what is missing at its end.
  double goal_error = 0.0;
  /// Nodes of all trees, and the number of trees.
  int nodes = 0;
  int trees = 0;
  double seconds = 0.0;
};

/// Sees the number of nodes and the least distance so far; false ends the search.
using ContactRrtCallback = std::function<bool(int nodes, double distance)>;

/// Throws InputError for sizes that do not fit.
[[nodiscard]] ContactRrtResult plan_through_contact(const ContactRrtProblem& problem,
                                                    const ContactRrtOptions& options = {},
                                                    const ContactRrtCallback& callback = {});

/// The plan's steps made again from its start, regrasps as they are: the largest coordinate by which it strays.
[[nodiscard]] double replay_strays(const ContactRrtProblem& problem, const std::vector<GraspStep>& plan);

/// The command with which servos (position, or affine with a stiffness) hold a configuration; zero of motors.
[[nodiscard]] VectorX holding_command(const World& world, const VectorX& q);

/// Two bodies with balls at the end of robots, brought to both sides of an object of hinges and slides in the plane of
/// x and z: along a line of any direction past its centre, at most `offset` away, until they are `gap` from it. Their
/// robots follow by inverse kinematics. InputError for bodies without shapes.
struct AntipodalGrasp {
  std::string object{};
  std::string first{};
  std::string second{};
  double offset = 0.15;
  double gap = 0.005;
  double reach = 1.0;
};
[[nodiscard]] GraspSampler antipodal_grasps(const World& world, const AntipodalGrasp& grasp);

}  // namespace tangere
