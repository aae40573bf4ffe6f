#include "experiments/nimble_states.hpp"

#include <cstdlib>

#include "tangere/io/scene_file.hpp"

namespace tangere::experiments {
namespace {

WorldOptions options_of(double time_step) {
  WorldOptions options;
  options.time_step = time_step;
  options.contact.joint_limits = false;
  // with it, what starts inside the floor leaves it after the first step, and nothing touches in the one measured
  options.contact.correction = 0.0;
  return options;
}

NimbleState scene_state(const char* name, const std::filesystem::path& file) {
  const Scene scene = load_scene(file);
  World world(scene.robot.model, {}, options_of(scene.time_step));
  const State start{scene.robot.keyframes.back().q, VectorX::Zero(world.nv())};
  return {name, file, std::move(world), start};
}

/// Atlas v3 on a floor, a centimetre into it as in Nimble's benchmark; links do not collide with each other.
NimbleState atlas_state(const std::filesystem::path& file) {
  ModelBuilder builder(load_robot(file, {.base = Base::free}).model);
  for (int i = 0; i < builder.num_bodies(); ++i)
    for (int j = i + 1; j < builder.num_bodies(); ++j) builder.exclude_pair(i, j);
  builder.add_body({.name = "ground",
                    .shapes = {{.name = "ground",
                                .shape = Box{.size = {25.0, 25.0, 0.05}},
                                .X_BS = Pose::translation({0.0, 0.0, -0.95})}}},
                   {.name = "ground"});
  World world(builder.build(), {}, options_of(1e-3));
  State start{VectorX::Zero(world.nq()), VectorX::Zero(world.nv())};
  start.q[2] = -0.01;
  start.q[6] = 1.0;
  return {"Atlas, mesh feet", {}, std::move(world), start};
}

}  // namespace

std::vector<NimbleState> nimble_states(const std::filesystem::path& scenes) {
  std::vector<NimbleState> out;
  out.push_back(scene_state("jump-worm", scenes / "jump_worm.xml"));
  out.push_back(scene_state("catapult", scenes / "catapult.xml"));
  out.push_back(scene_state("half-cheetah", scenes / "half_cheetah.xml"));
  out.push_back(scene_state("humanoid", scenes / "humanoid.xml"));
  const char* given = std::getenv("TANGERE_ROBOTS");
  const std::filesystem::path robots = given != nullptr ? std::filesystem::path(given) : scenes / "../../shared/robots";
  const std::filesystem::path file = robots / "atlas/atlas_v3_no_head.urdf";
  if (std::error_code error; std::filesystem::exists(file, error)) out.push_back(atlas_state(file));
  return out;
}

}  // namespace tangere::experiments
