/// Derivatives of steps of random scenes, beside extrapolated differences of the step itself.
///
/// Each scene is dropped for some steps, so that bodies lie, roll, slide and lean. At that state every column of all
/// Jacobians is compared with differences whose steps keep rows, sets, contact features and the owners of the normals
/// as they are (differences across a kink are of no derivative). Left out and counted are coordinates
///
///   that tie       there is no such step down to 1e-8
///   too near one   the steps are so small that the rounding of the step itself, which is measured, hides the
///                  derivative
///
/// TANGERE_STRESS_SCENES: how many (200; 20 in builds that are not optimised). TANGERE_STRESS_VERBOSE: a line for each.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/random_worlds.hpp"

namespace tangere::test {
namespace {

constexpr double kSmallestStep = 1e-8;
/// Of a block's largest entry: what rounding may hide.
constexpr double kMostHidden = 1e-7;

int num_scenes() {
  const char* text = std::getenv("TANGERE_STRESS_SCENES");
  if (text != nullptr) return std::max(1, std::atoi(text));
#ifdef __OPTIMIZE__
  return 200;
#else
  return 20;
#endif
}

struct Comparison {
  /// The worst entry of all blocks: |ours - differences| as a part of the block's largest entry.
  double error = 0.0;
  int row = 0;
  int column = 0;
  /// The largest step of the differences there.
  double step = 0.0;
  int columns = 0;
  int ties = 0;
  /// What changes at those.
  std::map<std::string, int> changes;
  int hidden = 0;
};

/// One column by differences.
struct Column {
  VectorX jacobian;
  double step = 0.0;
  /// Of the next state: how far it scatters.
  VectorX rounding;
};

/// Which bodies a contact's normal turns with. Neither, between round features.
struct Owner {
  bool A = false;
  bool B = false;
};

class Differences {
 public:
  Differences(const RandomWorld& scene, const State& state, Workspace& workspace)
      : world_(scene.world), state_(state), u_(scene.u), workspace_(workspace), data_(world_.model()) {
    (void)step(world_, state_, u_, workspace_, next_, &tape_);
    workspace_.save(warm_);
    for (std::size_t c = 0; c < tape_.hard().problem.contacts.size(); ++c) {
      // dn = dθ × n by the turns of A and of B
      const Matrix3 N = so3::hat(tape_.hard().problem.contacts[c].frame.col(0));
      const Matrix3x12& turn = tape_.hard().problem.motions[c].rotation;
      const auto moves = [&](int first) { return (N * turn.middleCols<6>(first)).cwiseAbs().maxCoeff() > 1e-9; };
      owners_.push_back({!moves(6), !moves(0)});
    }
    normals_ = local_normals(state_.q, tape_.hard().problem.contacts);
  }

  [[nodiscard]] const Tape& tape() const { return tape_; }
  [[nodiscard]] const State& next() const { return next_; }

  Comparison compare() {
    StepJacobians jacobians;
    (void)step_jacobians(world_, tape_, workspace_, jacobians);
    const int nv = world_.nv();
    const int nu = world_.nu();
    const double dt = world_.options().time_step;
    MatrixX ours(2 * nv, 2 * nv + nu);
    ours << jacobians.q_q, jacobians.q_v, jacobians.q_u, jacobians.v_q, jacobians.v_v, jacobians.v_u;
    // at least what a block's entries are without contact
    const double sizes[2][3] = {{1.0, dt, dt * dt}, {1.0, 1.0, dt}};
    double scale[2][3];
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        scale[i][j] = std::max(sizes[i][j], ours.block(i * nv, j * nv, nv, j == 2 ? nu : nv).cwiseAbs().maxCoeff());

    Comparison worst;
    worst.columns = static_cast<int>(ours.cols());
    for (int k = 0; k < ours.cols(); ++k) {
      Column column;
      if (!differentiate(k, k < nv ? 1e-3 : k < 2 * nv ? 1e-1 : 10.0, column)) {
        ++worst.ties;
        ++worst.changes[change_];
        continue;
      }
      VectorX sizes_of_rows(2 * nv);
      for (int i = 0; i < 2 * nv; ++i) sizes_of_rows[i] = scale[i / nv][k / nv];
      const VectorX hidden = (column.rounding / column.step).cwiseQuotient(sizes_of_rows);
      if (hidden.maxCoeff() > kMostHidden) {
        ++worst.hidden;
        continue;
      }
      const VectorX errors = (ours.col(k) - column.jacobian).cwiseAbs().cwiseQuotient(sizes_of_rows);
      for (int i = 0; i < 2 * nv; ++i) {
        if (errors[i] <= worst.error) continue;
        worst.error = errors[i];
        worst.row = i;
        worst.column = k;
        worst.step = column.step;
      }
      if (errors.hasNaN()) worst.error = std::numeric_limits<double>::quiet_NaN();
    }
    return worst;
  }

 private:
  /// With the largest steps, a quarter each time, that keep everything; false if there are none.
  bool differentiate(int k, double scale, Column& out) {
    std::map<double, VectorX> cache;
    const auto along = [&](const VectorX& t) -> const VectorX& {
      const auto [at, is_new] = cache.try_emplace(t[0]);
      if (is_new) at->second = moved(k, t[0]);
      return at->second;
    };
    for (; scale >= kSmallestStep; scale /= 4.0) {
      held_ = true;
      cache.clear();
      DifferenceOptions options{.scale = scale, .noise = 1e-15};
      for (const double side : {-1.0, 1.0})
        if (held_) (void)along(VectorX::Constant(1, side * scale));
      if (!held_) continue;
      (void)test::difference(along, 1, 2 * world_.nv(), options);
      if (!held_) continue;

      // the smallest steps scatter about a line
      const VectorX center = moved(k, 0.0);
      const VectorX slope = (cache.at(scale) - cache.at(-scale)) / (2.0 * scale);
      out.rounding.setZero(2 * world_.nv());
      for (const auto& [t, value] : cache)
        if (std::abs(t) < scale / 100.0) out.rounding = out.rounding.cwiseMax((value - center - t * slope).cwiseAbs());
      options.noise = std::max(options.noise, out.rounding.maxCoeff());
      out.jacobian = test::difference(along, 1, 2 * world_.nv(), options).jacobian;
      out.step = scale;
      return true;
    }
    return false;
  }

  /// The next state as a tangent from the one that was taped, if coordinate k moves by t.
  VectorX moved(int k, double t) {
    const int nv = world_.nv();
    State from = state_;
    VectorX u = u_;
    if (k < nv) {
      VectorX delta = VectorX::Zero(nv);
      delta[k] = t;
      integrate(world_.model(), state_.q, delta, from.q);
    } else {
      (k < 2 * nv ? from.v[k - nv] : u[k - 2 * nv]) += t;
    }
    workspace_.restore(warm_);
    State to;
    const std::string change = change_of(step(world_, from, u, workspace_, to), k < nv ? &from.q : nullptr);
    if (!change.empty()) {
      held_ = false;
      change_ = change;
    }
    VectorX out(2 * nv);
    tangere::difference(world_.model(), next_.q, to.q, out.head(nv));
    out.tail(nv) = to.v - next_.v;
    // positions and velocities are of order 1, and so is what they are rounded to
    out.array() += 1.0;
    return out;
  }

  /// What is not as on the tape, if anything: rows, sets, features, owners of normals; at q, if that has moved.
  [[nodiscard]] std::string change_of(const StepResult& result, const VectorX* q) {
    const ContactProblem& taped = tape_.hard().problem;
    if (result.contacts.size() != taped.contacts.size() || result.rows.size() != taped.rows.size()) return "contacts";
    for (std::size_t c = 0; c < result.contacts.size(); ++c) {
      const Contact& now = result.contacts[c];
      const Contact& then = taped.contacts[c];
      if (now.shape_A != then.shape_A || now.shape_B != then.shape_B || now.feature_A != then.feature_A ||
          now.feature_B != then.feature_B)
        return "features";
      // a frame that jumps has found another direction to follow
      if ((now.frame - then.frame).cwiseAbs().maxCoeff() > 0.1) return "tangents";
    }
    for (std::size_t r = 0; r < tape_.hard().sets.size(); ++r)
      if (result.rows[r].gain != taped.rows[r].gain) return "gap or penetration";
    if (!std::equal(tape_.hard().sets.begin(), tape_.hard().sets.end(), result.sets.begin())) return "sets";
    if (q == nullptr) return "";
    const std::vector<std::array<Vector3, 2>> normals = local_normals(*q, result.contacts);
    for (std::size_t c = 0; c < normals.size(); ++c)
      if ((owners_[c].A && (normals[c][0] - normals_[c][0]).norm() > 1e-12) ||
          (owners_[c].B && (normals[c][1] - normals_[c][1]).norm() > 1e-12))
        return "owner of a normal";
    return "";
  }

  /// In the axes of A and of B.
  std::vector<std::array<Vector3, 2>> local_normals(const VectorX& q, std::span<const Contact> contacts) {
    forward_kinematics(world_.model(), data_, q);
    std::vector<std::array<Vector3, 2>> out;
    for (const Contact& contact : contacts) {
      const Vector3 normal = contact.frame.col(0);
      const auto in = [&](int body) -> Vector3 {
        return body_pose(world_.model(), data_, body).R.transpose() * normal;
      };
      out.push_back({in(contact.body_A), in(contact.body_B)});
    }
    return out;
  }

  const World& world_;
  const State& state_;
  const VectorX& u_;
  Workspace& workspace_;
  Data data_;
  WarmStart warm_;
  State next_;
  Tape tape_;
  std::vector<Owner> owners_;
  std::vector<std::array<Vector3, 2>> normals_;
  bool held_ = true;
  std::string change_;
};

/// Lets a scene fall for up to 400 steps, and on until something touches. False if a step is not finite.
bool drop(const RandomWorld& scene, std::uint64_t seed, Workspace& workspace, State& state, int& approximate) {
  Random random(seed + 1000003);
  const int least = 20 + random.index(380);
  for (int i = 0; i < 2000; ++i) {
    const StepResult& result = step(scene.world, state, scene.u, workspace, state);
    if (!state.q.allFinite() || !state.v.allFinite()) return false;
    if (result.status != StepStatus::solved) ++approximate;
    bool touches = false;
    for (const Contact& contact : result.contacts) touches = touches || contact.impulse[0] > 0.0;
    if (i >= least && touches) break;
  }
  return true;
}

std::string describe(const RandomWorld& scene, const Tape& tape) {
  std::string text = scene.name + ":";
  for (const Contact& c : tape.hard().problem.contacts)
    text += " " + std::to_string(c.shape_A) + "-" + std::to_string(c.shape_B) + " " +
            std::string(to_string(c.feature_A.kind)) + "-" + std::string(to_string(c.feature_B.kind));
  return text;
}

/// Scenes by the decade of their error: below 1e-12, …, 1e-3 and more.
class Histogram {
 public:
  void add(double error) {
    const int decade = static_cast<int>(std::floor(std::log10(std::max(error, 1e-300)))) + 13;
    ++counts_[std::clamp(decade, 0, 10)];
  }
  void print() const {
    std::printf("| relative error | scenes |\n| --- | --- |\n");
    for (int k = 0; k < 11; ++k) {
      const int count = counts_[k];
      if (k == 0)
        std::printf("| below 1e-12 | %d |\n", count);
      else if (k == 10)
        std::printf("| 1e-3 and more | %d |\n", count);
      else
        std::printf("| 1e%d to 1e%d | %d |\n", k - 13, k - 12, count);
    }
  }

 private:
  std::array<int, 11> counts_{};
};

TEST(RandomScenes, JacobiansAreThoseOfTheStep) {
  const int count = num_scenes();
  const bool verbose = std::getenv("TANGERE_STRESS_VERBOSE") != nullptr;
  Histogram histogram;
  Comparison all;
  int compared = 0;
  int below = 0;
  int contacts = 0;
  int approximate = 0;
  for (int i = 1; i <= count; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const RandomWorld scene = random_world(seed);
    Workspace workspace(scene.world);
    State state = scene.state;
    ASSERT_TRUE(drop(scene, seed, workspace, state, approximate)) << "scene " << seed << ", " << scene.name;
    Differences differences(scene, state, workspace);
    ASSERT_TRUE(differences.next().q.allFinite() && differences.next().v.allFinite()) << "scene " << seed;
    const Comparison c = differences.compare();
    ASSERT_FALSE(std::isnan(c.error)) << "scene " << seed;
    contacts += static_cast<int>(differences.tape().hard().problem.contacts.size());
    all.columns += c.columns;
    all.ties += c.ties;
    all.hidden += c.hidden;
    for (const auto& [change, times] : c.changes) all.changes[change] += times;
    if (c.ties + c.hidden == c.columns) continue;
    ++compared;
    histogram.add(c.error);
    if (c.error < 1e-6) ++below;
    if (c.error >= 1e-6 || verbose)
      std::printf("scene %d: %.1e at (%d, %d), steps from %.0e; nv %d, %d ties, %d hidden; %s\n", i, c.error, c.row,
                  c.column, c.step, scene.world.nv(), c.ties, c.hidden, describe(scene, differences.tape()).c_str());
  }
  std::printf(
      "%d scenes compared of %d, %d contacts; of %d coordinates %d tie, %d are too near; %d steps approximate\n",
      compared, count, contacts, all.columns, all.ties, all.hidden, approximate);
  for (const auto& [change, times] : all.changes) std::printf("  ties of %s: %d\n", change.c_str(), times);
  histogram.print();
  EXPECT_GE(below, 0.99 * compared);
  EXPECT_GE(compared, 0.95 * count);
}

}  // namespace
}  // namespace tangere::test
