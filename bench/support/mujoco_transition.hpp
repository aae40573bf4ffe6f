#pragma once

/// MuJoCo's step and its Jacobians by centred differences (mjd_transitionFD), on the same MJCF file.

#include <filesystem>
#include <memory>

namespace tangere::bench {

class MujocoTransition {
 public:
  /// At the last keyframe, joint limits off, after one step. Absent if it was not built with MuJoCo, or MuJoCo refuses
  /// the file.
  explicit MujocoTransition(const std::filesystem::path& file);
  ~MujocoTransition();
  MujocoTransition(const MujocoTransition&) = delete;
  MujocoTransition& operator=(const MujocoTransition&) = delete;

  [[nodiscard]] bool present() const;
  [[nodiscard]] int num_contacts() const;
  [[nodiscard]] int num_controls() const;

  /// mj_step, from the state after the one step.
  void step();
  /// A and B there, centred, steps of 1e-6.
  void jacobians();
  /// Back to that state (after `step`).
  void reset();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere::bench
