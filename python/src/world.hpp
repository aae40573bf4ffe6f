#pragma once

/// Worlds and states as Python holds them.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "python/src/model.hpp"
#include "tangere/io/robot_file.hpp"
#include "tangere/sim/step.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"

namespace tangere::python {

/// Options of contact as Python has them: those that every formulation heeds, and those of hard contact.
struct AllContactOptions : ContactOptions, HardContact {
  AllContactOptions() = default;
  AllContactOptions(const ContactOptions& contact, const HardContact& hard)
      : ContactOptions(contact), HardContact(hard) {}
  void verify() const {
    ContactOptions::verify();
    HardContact::verify();
  }
  void copy_to(WorldOptions& options) const {
    options.contact = *this;
    options.hard = *this;
  }
};

/// A state, and what the step that made it leaves for the next one to start from. The sizes of q and v never change, so
/// that arrays may look into them.
struct WorldState {
  State value;
  WarmStart warm{};
  StepStatus status = StepStatus::solved;
};

/// Memory of one caller of steps.
struct StepMemory {
  explicit StepMemory(const World& world) : workspace(world) {}
  Workspace workspace;
  State start;
  State next;
  VectorX u;
  Tape tape;
};

struct SharedWorld {
  std::shared_ptr<const World> world;
  /// The state to start from, and those saved in the file.
  State start;
  std::vector<Keyframe> keyframes;
  std::vector<std::string> notices;
  /// The model whose scales the world has: worlds with other parameters keep those of the first.
  std::shared_ptr<const Model> scaled_by;
  std::shared_ptr<Pool<StepMemory>> memory = std::make_shared<Pool<StepMemory>>();

  [[nodiscard]] Pool<StepMemory>::Lease lend() const {
    return memory->lend([this] { return std::make_unique<StepMemory>(*world); });
  }
  [[nodiscard]] const Model& model() const { return world->model(); }
};

/// Throws unless the state is one of the world.
void require_state(const World& world, const WorldState& state);
[[nodiscard]] VectorX read_control(const World& world, const Numbers& u);
[[nodiscard]] StepParameter read_parameter(const World& world, const std::string& name);
[[nodiscard]] std::vector<StepParameter> read_parameters(const World& world,
                                                         const std::optional<std::vector<std::string>>& names);
[[nodiscard]] GradientMode read_gradient_mode(std::string_view name);
[[nodiscard]] const char* status_name(StepStatus status);

/// Keeps the interpreter's lock away from a long computation. With `poll`, answers signals (Ctrl-C) meanwhile.
void answer_signals();

}  // namespace tangere::python
