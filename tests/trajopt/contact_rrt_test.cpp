#include "tangere/trajopt/contact_rrt.hpp"

#include <gtest/gtest.h>

#include "tangere/io/grasp_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/sim/quasi_static.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/folders.hpp"

namespace tangere {
namespace {

GraspFile grasp_file() { return load_grasp(test::scenes_folder() / "problems" / "grasp.json"); }

/// Fingers go where they are told, and derivatives are those of the step.
TEST(QuasiStatic, StepAndJacobians) {
  const GraspFile file = grasp_file();
  const World world = file.problem.world.with({.kappa = 3e-3, .gradient_kappa = 0.0, .tolerance = 1e-8});
  Workspace workspace(world);
  VectorX q = file.problem.start, command = file.problem.command, next;
  command[0] += 0.38;
  Tape tape;
  ASSERT_TRUE(is_made(quasi_static_step(world, q, command, workspace, next, &tape)));
  // a light finger: dt² k / (m + dt² k) of its way, where nothing is in it
  EXPECT_NEAR(next[3], q[3] + 0.25 / 0.35 * 0.38, 2e-3);
  EXPECT_GT(next[0], q[0]);
  MatrixX q_q, q_u;
  (void)quasi_static_jacobians(world, tape, workspace, q_q, q_u);
  const MatrixX D = test::finite_difference(
      [&](const VectorX& d) -> VectorX {
        VectorX out;
        (void)quasi_static_step(world, q, command + d, workspace, out);
        return out;
      },
      world.nu(), world.nq(), 1e-3);
  EXPECT_TRUE(q_u.isApprox(D, 1e-4)) << q_u << "\n" << D;
}

TEST(ContactRrt, GraspReachesTheGoal) {
  GraspFile file = grasp_file();
  int reached = 0;
  for (int seed = 1; seed <= 3; ++seed) {
    file.options.seed = seed;
    const ContactRrtResult result = plan_through_contact(file.problem, file.options);
    reached += result.reached;
    EXPECT_LE(replay_strays(file.problem, result.plan), 1e-9);
    EXPECT_TRUE(!result.reached || result.goal_error <= file.options.goal_error);
  }
  EXPECT_GE(reached, 2);
}

TEST(ContactRrt, GraspsAreFreeOfOverlap) {
  const GraspFile file = grasp_file();
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    VectorX q, command, next;
    ASSERT_TRUE(file.problem.grasp(random, file.problem.start, q, command));
    EXPECT_EQ(q.head(3), file.problem.start.head(3));
    EXPECT_GE(q[4], 0.1);
    EXPECT_GE(q[6], 0.1);
  }
}

TEST(ContactRrt, BadInput) {
  GraspFile file = grasp_file();
  file.options.max_nodes = 1;
  EXPECT_THROW((void)plan_through_contact(file.problem, file.options), InputError);
  file.options.max_nodes = 10;
  file.problem.goal.conservativeResize(2);
  EXPECT_THROW((void)plan_through_contact(file.problem, file.options), InputError);
  file = grasp_file();
  file.problem.object.clear();
  EXPECT_THROW((void)plan_through_contact(file.problem, file.options), InputError);
}

}  // namespace
}  // namespace tangere
