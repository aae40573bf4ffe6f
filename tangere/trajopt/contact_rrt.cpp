#include "tangere/trajopt/contact_rrt.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/quasi_static.hpp"

namespace tangere {
namespace {

/// A step on towards a sample must leave less than this part of the distance.
constexpr double kNearer = 0.97;
/// Added to Bᵀ B.
constexpr double kCommandRegularisation = 1e-2;

struct TreeNode {
  int parent = -1;
  bool regrasp = false;
  VectorX q{};
  VectorX command{};
  /// The object after a step with the command held, B, and (B Bᵀ + γ 1)⁻¹.
  VectorX mean{};
  MatrixX B{};
  MatrixX metric{};
};

void require(const char* field, Eigen::Index got, Eigen::Index wanted) {
  if (got != wanted)
    throw InputError(field, "must have " + std::to_string(wanted) + " entries, got " + std::to_string(got));
}

/// Indices of the object's coordinates in q.
std::vector<int> places_of(const ContactRrtProblem& problem) {
  const Model& model = problem.world.model();
  require("start", problem.start.size(), model.nq());
  require("command", problem.command.size(), problem.world.nu());
  const auto size = static_cast<Eigen::Index>(problem.object.size());
  if (size == 0) throw InputError("object", "must have at least one coordinate");
  require("goal", problem.goal.size(), size);
  require("lower", problem.lower.size(), size);
  require("upper", problem.upper.size(), size);
  std::vector<int> places;
  for (const int dof : problem.object) {
    int place = -1;
    for (const Joint& joint : model.joints())
      if (dof >= joint.first_v && dof < joint.first_v + joint.nv && joint.nq == joint.nv)
        place = joint.first_q + dof - joint.first_v;
    if (place < 0) throw InputError("object", "must be coordinates of hinges and slides");
    places.push_back(place);
  }
  return places;
}

class Tree {
 public:
  Tree(const ContactRrtProblem& problem, const ContactRrtOptions& options)
      : problem_(problem),
        options_(options),
        places_(places_of(problem)),
        workspace_(problem.world),
        lower_(problem.world.lower_control()),
        upper_(problem.world.upper_control()) {}

  [[nodiscard]] const std::vector<TreeNode>& nodes() const { return nodes_; }
  [[nodiscard]] VectorX object_of(const VectorX& q) const {
    VectorX out(static_cast<Eigen::Index>(places_.size()));
    for (std::size_t i = 0; i < places_.size(); ++i) out[static_cast<Eigen::Index>(i)] = q[places_[i]];
    return out;
  }
  [[nodiscard]] double distance(const TreeNode& node, const VectorX& sample) const {
    const VectorX away = sample - node.mean;
    return 0.5 * away.dot(node.metric * away);
  }
  [[nodiscard]] int nearest(const VectorX& sample) const {
    int best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const double d = distance(nodes_[i], sample);
      if (d < least) best = static_cast<int>(i);
      least = std::min(least, d);
    }
    return best;
  }

  /// False if no step can be made there.
  bool add(TreeNode node) {
    const World& world = problem_.world;
    if (!is_made(quasi_static_step(world, node.q, node.command, workspace_, next_, &tape_))) return false;
    (void)quasi_static_jacobians(world, tape_, workspace_, q_q_, q_u_);
    if (!q_u_.allFinite()) return false;
    const auto size = static_cast<Eigen::Index>(places_.size());
    node.mean = object_of(next_);
    node.B.resize(size, world.nu());
    for (Eigen::Index i = 0; i < size; ++i) node.B.row(i) = q_u_.row(problem_.object[i]);
    const MatrixX spread = node.B * node.B.transpose() + options_.regularisation * MatrixX::Identity(size, size);
    node.metric = spread.llt().solve(MatrixX::Identity(size, size));
    nodes_.push_back(std::move(node));
    return true;
  }

  /// A step from a node towards a sample.
  bool extend(int from, const VectorX& sample) {
    const TreeNode& node = nodes_[from];
    const Eigen::Index nu = node.command.size();
    const MatrixX normal = node.B.transpose() * node.B + kCommandRegularisation * MatrixX::Identity(nu, nu);
    VectorX way = normal.llt().solve(node.B.transpose() * (sample - node.mean));
    const double length = way.norm();
    if (!(length > 1e-12)) return false;
    // the last step to a sample is no longer than needed
    way *= std::min(options_.step / length, std::max(1.0, 0.02 / length));
    TreeNode next{.parent = from, .command = (node.command + way).cwiseMax(lower_).cwiseMin(upper_)};
    if (!is_made(quasi_static_step(problem_.world, node.q, next.command, workspace_, next.q))) return false;
    return add(std::move(next));
  }

  /// The fingers of a node placed anew, if the object rests without them.
  bool regrasp(int from, Random& random) {
    TreeNode next{.parent = from, .regrasp = true};
    if (!problem_.grasp || !problem_.grasp(random, nodes_[from].q, next.q, next.command)) return false;
    if (!is_made(quasi_static_step(problem_.world, next.q, next.command, workspace_, next_))) return false;
    if ((object_of(next_) - object_of(next.q)).lpNorm<Eigen::Infinity>() > options_.rest) return false;
    return add(std::move(next));
  }

 private:
  const ContactRrtProblem& problem_;
  const ContactRrtOptions& options_;
  std::vector<int> places_;
  Workspace workspace_;
  VectorX lower_;
  VectorX upper_;
  std::vector<TreeNode> nodes_;
  Tape tape_;
  VectorX next_;
  MatrixX q_q_;
  MatrixX q_u_;
};

std::vector<GraspStep> way_to(const std::vector<TreeNode>& nodes, int last) {
  std::vector<GraspStep> plan;
  for (int i = last; i >= 0; i = nodes[i].parent) plan.push_back({nodes[i].q, nodes[i].command, nodes[i].regrasp});
  std::reverse(plan.begin(), plan.end());
  return plan;
}

VectorX sample_of(const ContactRrtProblem& problem, double goal_bias, Random& random) {
  if (random.uniform() < goal_bias) return problem.goal;
  VectorX sample(problem.goal.size());
  for (Eigen::Index i = 0; i < sample.size(); ++i) sample[i] = random.uniform(problem.lower[i], problem.upper[i]);
  return sample;
}

/// The growth of one tree, and its node nearest the goal.
struct Growth {
  int best = 0;
  double least = 0.0;
  bool reached = false;
  bool stopped = false;
};

Growth grow(const ContactRrtProblem& problem, const ContactRrtOptions& options, Random& random, Tree& tree,
            const ContactRrtCallback& callback) {
  Growth growth{.least = (tree.object_of(problem.start) - problem.goal).lpNorm<Eigen::Infinity>()};
  const auto look = [&](int node) {
    const double missing = (tree.object_of(tree.nodes()[node].q) - problem.goal).lpNorm<Eigen::Infinity>();
    if (missing < growth.least) growth.best = node;
    growth.least = std::min(growth.least, missing);
    growth.reached =
        missing <= options.goal_error && tree.distance(tree.nodes()[node], problem.goal) <= options.goal_distance;
    if (growth.reached) growth.best = node;
    if (callback && !callback(node + 1, growth.least)) growth.stopped = true;
    return !growth.reached && !growth.stopped;
  };
  // what adds no node counts as one, so that the search ends
  int used = 1;
  while (used < options.max_nodes && !growth.reached && !growth.stopped) {
    ++used;
    const VectorX sample = sample_of(problem, options.goal_bias, random);
    int from = tree.nearest(sample);
    if (random.uniform() < options.regrasp) {
      if (tree.regrasp(from, random)) (void)look(static_cast<int>(tree.nodes().size()) - 1);
      continue;
    }
    double away = tree.distance(tree.nodes()[from], sample);
    for (int i = 0; i < options.most_steps && used < options.max_nodes && tree.extend(from, sample); ++i, ++used) {
      from = static_cast<int>(tree.nodes().size()) - 1;
      const double next = tree.distance(tree.nodes()[from], sample);
      if (!look(from) || next > kNearer * away) break;
      away = next;
    }
  }
  return growth;
}

}  // namespace

void ContactRrtOptions::verify() const {
  if (max_nodes < 2) throw InputError("max_nodes", "must be at least 2, got " + std::to_string(max_nodes));
  if (trees < 1) throw InputError("trees", "must be at least 1, got " + std::to_string(trees));
  if (most_steps < 1) throw InputError("most_steps", "must be at least 1, got " + std::to_string(most_steps));
  const auto positive = [](const char* field, double value) {
    if (!(value > 0.0 && std::isfinite(value)))
      throw InputError(field, "must be above 0, got " + internal::to_text(value));
  };
  positive("regularisation", regularisation);
  positive("step", step);
  positive("goal_distance", goal_distance);
  positive("goal_error", goal_error);
  positive("rest", rest);
  const auto part = [](const char* field, double value) {
    if (!(value >= 0.0 && value <= 1.0))
      throw InputError(field, "must be between 0 and 1, got " + internal::to_text(value));
  };
  part("goal_bias", goal_bias);
  part("regrasp", regrasp);
}

ContactRrtResult plan_through_contact(const ContactRrtProblem& problem, const ContactRrtOptions& options,
                                      const ContactRrtCallback& callback) {
  const auto begin = std::chrono::steady_clock::now();
  options.verify();
  Random random(options.seed);
  ContactRrtResult result;
  result.goal_error = std::numeric_limits<double>::infinity();
  for (bool more = true; more && result.trees < options.trees; ++result.trees) {
    Tree tree(problem, options);
    if (!tree.add({.q = problem.start, .command = problem.command}))
      throw InputError("start", "is a configuration in which no step can be made");
    const Growth growth = grow(problem, options, random, tree, callback);
    result.nodes += static_cast<int>(tree.nodes().size());
    result.reached = growth.reached;
    more = !growth.reached && !growth.stopped;
    if (!growth.reached && growth.least >= result.goal_error) continue;
    result.plan = way_to(tree.nodes(), growth.best);
    result.goal_error = growth.least;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

double replay_strays(const ContactRrtProblem& problem, const std::vector<GraspStep>& plan) {
  Workspace workspace(problem.world);
  double strays = 0.0;
  VectorX q = problem.start;
  VectorX away(problem.world.nv());
  for (std::size_t i = 1; i < plan.size(); ++i) {
    if (plan[i].regrasp) {
      // the fingers move, the object stays
      VectorX placed = plan[i].q;
      for (const int place : places_of(problem)) placed[place] = q[place];
      q = placed;
    } else if (!is_made(quasi_static_step(problem.world, q, plan[i].command, workspace, q))) {
      return std::numeric_limits<double>::infinity();
    }
    difference(problem.world.model(), plan[i].q, q, away);
    strays = std::max(strays, away.lpNorm<Eigen::Infinity>());
  }
  return strays;
}

}  // namespace tangere
