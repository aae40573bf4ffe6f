#include "apps/cli/demo_scene.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "apps/cli/viewer_page.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"

namespace tangere::cli {
namespace {

constexpr double kSweepSeconds = 2.8;
/// Steps whose gradients are checked.
constexpr int kChecks = 4;

/// Keeps the joints of one coordinate on a path: computed torque, no stronger than the joints are. What is free is left
/// alone.
class SweepController {
 public:
  explicit SweepController(const World& world, const State& start)
      : model_(world.model()),
        data_(model_),
        start_(start.q),
        u_(VectorX::Zero(world.nv())),
        a_(VectorX::Zero(world.nv())) {}

  const VectorX& control(double t, const State& state) {
    for (const Joint& joint : model_.joints()) {
      if (joint.nv != 1) continue;
      const Target target = target_of(joint, t);
      a_[joint.first_v] = target.acceleration + kStiffness * (target.position - state.q[joint.first_q]) +
                          kDamping * (target.velocity - state.v[joint.first_v]);
    }
    const VectorX& force = inverse_dynamics(model_, data_, state.q, state.v, a_);
    for (const Joint& joint : model_.joints()) {
      if (joint.nv != 1) continue;
      const double most = model_.dofs()[joint.first_v].effort;
      u_[joint.first_v] = std::clamp(force[joint.first_v], -most, most);
    }
    return u_;
  }

 private:
  struct Target {
    double position;
    double velocity;
    double acceleration;
  };

  /// The first joint turns, from where it is, by `kTurn` within `kTurnSeconds`, smoothly; the others stay.
  [[nodiscard]] Target target_of(const Joint& joint, double t) const {
    const double start = start_[joint.first_q];
    if (joint.spec.name != "shoulder") return {start, 0.0, 0.0};
    const double s = std::clamp((t - kRest) / kTurnSeconds, 0.0, 1.0);
    const double rate = s > 0.0 && s < 1.0 ? kTurn / kTurnSeconds : 0.0;
    return {start + kTurn * s * s * (3.0 - 2.0 * s), rate * 6.0 * s * (1.0 - s),
            rate / kTurnSeconds * (6.0 - 12.0 * s)};
  }

  static constexpr double kStiffness = 400.0;
  static constexpr double kDamping = 40.0;
  static constexpr double kTurn = 2.5;
  static constexpr double kTurnSeconds = 2.0;
  static constexpr double kRest = 0.2;

  const Model& model_;
  Data data_;
  VectorX start_;
  VectorX u_;
  VectorX a_;
};

/// Makes the steps; `control(t, state)` gives what acts in each.
template <class Control>
DemoRun simulate(const World& world, State state, int num_steps, bool check_gradients, Control control) {
  const double dt = world.options().time_step;
  DemoRun run;
  run.name = world.model().name();
  run.num_steps = num_steps;
  run.simulated_seconds = num_steps * dt;
  RecordingText text;
  RecordingOptions options;
  options.made_by.command = "demo";
  options.listener = &text;
  RecordingWriter recording(world, {}, options);
  recording.add(0, state);
  GradientCheck check(world);
  Workspace workspace(world);
  WarmStart warm_start;
  for (int i = 0; i < num_steps; ++i) {
    const VectorX& u = control(i * dt, state);
    if (check_gradients && i % std::max(1, num_steps / kChecks) == 0) {
      workspace.save(warm_start);
      check.check(i, state, u, warm_start);
    }
    const auto before = std::chrono::steady_clock::now();
    const StepResult& result = step(world, state, u, workspace, state);
    run.wall_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    if (result.status == StepStatus::not_finite) throw std::runtime_error(run.name + ": the numbers ran away");
    run.most_contacts = std::max(run.most_contacts, static_cast<int>(result.contacts.size()));
    recording.add(i + 1, state, result.contacts);
  }
  recording.finish();
  run.recording = text.text();
  run.gradients = check.report();
  return run;
}

/// Bodies that are only drawn collide as they look: with the floor, not with each other.
Model with_solid_limbs(const Model& model) {
  ModelBuilder builder(model);
  std::uint32_t groups = 0;
  for (const Body& body : model.bodies())
    for (const CollisionShape& shape : body.spec.shapes) groups |= shape.group;
  const std::uint32_t limb = ~groups & (groups + 1);
  for (int i = 0; i < model.num_bodies(); ++i) {
    BodySpec body = model.body(i).spec;
    if (body.shapes.empty()) {
      for (const VisualShape& visual : body.visuals)
        if (const Shape* shape = std::get_if<Shape>(&visual.geometry))
          body.shapes.push_back({.shape = *shape, .X_BS = visual.X_BV, .mask = groups});
      for (CollisionShape& shape : body.shapes) shape.group = limb;
    } else if (model.joint(i).nv == 0) {
      for (CollisionShape& shape : body.shapes) shape.mask |= limb;
    }
    builder.set_body(i, std::move(body));
  }
  return builder.build();
}

}  // namespace

DemoRun run_sweep(const std::filesystem::path& scenes) {
  const Scene scene = load_scene(scenes / "sweep.json");
  const World world(scene.robot.model, {}, {.time_step = scene.time_step});
  const State start{scene.q, scene.v};
  SweepController controller(world, start);
  return simulate(world, start, static_cast<int>(std::lround(kSweepSeconds / scene.time_step)), true,
                  [&](double t, const State& state) -> const VectorX& { return controller.control(t, state); });
}

DemoRun run_scene(const std::filesystem::path& file, double seconds, LimbsCollide limbs_collide) {
  const Scene scene = load_scene(file);
  const World world(limbs_collide == LimbsCollide::yes ? with_solid_limbs(scene.robot.model) : scene.robot.model,
                    scene.robot.actuators, {.time_step = scene.time_step});
  const VectorX u = VectorX::Zero(world.nu());
  return simulate(world, {scene.q, scene.v}, static_cast<int>(std::lround(seconds / scene.time_step)), false,
                  [&](double, const State&) -> const VectorX& { return u; });
}

}  // namespace tangere::cli
