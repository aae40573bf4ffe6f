#include "experiments/optimize_task.hpp"

#include <array>

namespace tangere::experiments {

OptimizeTask task_of(const ProblemFile& file) {
  const World& world = file.dynamics->world();
  std::vector<std::string> design;
  for (const DesignVariable& variable : file.dynamics->design()) design.push_back(variable.name);
  VectorX noise = VectorX::Constant(file.dynamics->ndx(), file.start_noise);
  noise.tail(file.dynamics->num_design()).setZero();
  return {.name = file.name,
          .problem = file.problem,
          .options = file.options,
          .restarts = file.restarts,
          .guess = file.guess,
          .start_noise = noise,
          .control_noise = file.restarts.noise,
          .display = world,
          .shown =
              [nq = world.nq(), nv = world.nv()](const VectorX& x) {
                return State{x.head(nq), x.segment(nq, nv)};
              },
          .design = design,
          .display_at = [dynamics = file.dynamics](
                            const VectorX& x) { return dynamics->world_at(x.tail(dynamics->num_design())); }};
}

std::span<const NamedTask> all_tasks() {
  static constexpr std::array kTasks = {NamedTask{"car", diffpills_car}, NamedTask{"piano", dcol_piano},
                                        NamedTask{"piano_long", dcol_piano_long},
                                        NamedTask{"quadrotor", dcol_quadrotor}, NamedTask{"cone", dcol_cone}};
  return kTasks;
}

World display_of(const Collider& mover, std::span<const Collider> obstacles, std::span<const Pose> poses) {
  ModelBuilder builder("plan");
  builder.set_gravity(Vector3::Zero());
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    BodySpec body{.name = obstacles[i].name};
    body.shapes.push_back({.shape = obstacles[i].shape});
    (void)builder.add_body(std::move(body), {.name = obstacles[i].name, .X_PJ = poses[i]});
  }
  BodySpec body{.name = mover.name, .inertia = {1.0, Vector3::Zero(), Matrix3::Identity()}};
  body.shapes.push_back({.shape = mover.shape});
  (void)builder.add_body(std::move(body), {.name = mover.name, .type = JointType::free});
  return World(builder.build());
}

State shown_at(const Pose& X_WB) {
  const Eigen::Quaterniond turn(X_WB.R);
  State state{VectorX(7), VectorX::Zero(6)};
  state.q << X_WB.p, turn.x(), turn.y(), turn.z(), turn.w();
  return state;
}

}  // namespace tangere::experiments
