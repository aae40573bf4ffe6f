#pragma once

/// MuJoCo as a peer for the dynamics, on the same MJCF file. Its header stays in the source file; without Debian's
/// libmujoco-dev the peer is absent.

#include <filesystem>
#include <memory>

#include "tangere/math/types.hpp"

namespace tangere::bench {

class MujocoPeer {
 public:
  /// Absent if it was not built with MuJoCo, or MuJoCo refuses the file.
  explicit MujocoPeer(const std::filesystem::path& file);
  ~MujocoPeer();
  MujocoPeer(const MujocoPeer&) = delete;
  MujocoPeer& operator=(const MujocoPeer&) = delete;

  [[nodiscard]] bool present() const;
  /// In MuJoCo's coordinates (quaternions w x y z, the base's linear velocity in the world's axes).
  void set_state(const VectorX& qpos, const VectorX& qvel, const VectorX& qacc);
  /// Kinematics and mj_rne with accelerations.
  void inverse_dynamics();
  /// Kinematics, mj_crb, mj_factorM.
  void mass_matrix();
  /// mj_forward with contacts, limits and actuation off.
  void forward_dynamics();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere::bench
