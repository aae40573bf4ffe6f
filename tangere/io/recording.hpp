#pragma once

/// Recordings of simulations, one JSON file each (docs/simulate.md has the schema): shapes, poses a frame, contacts,
/// channels.
///
///   RecordingWriter recording(world, "out.json");
///   recording.add(0, state);
///   for (int i = 1; i <= steps; ++i) {
///     const StepResult& result = step(world, state, u, workspace, state);
///     recording.add(i, state, result.contacts);
///   }
///   recording.finish();

#include <filesystem>
#include <memory>
#include <span>

#include "tangere/sim/world.hpp"

namespace tangere {

struct RecordingOptions {
  /// At most this many frames a simulated second; above 0.
  double frames_per_second = 60.0;
};

/// Writes as it goes, under a temporary name (`out.json.partial`) beside the file; only `finish` gives it its name. A
/// recording that is not finished leaves nothing behind.
class RecordingWriter {
 public:
  /// Throws InputError, naming the file, if it cannot be written.
  RecordingWriter(const World& world, const std::filesystem::path& file, const RecordingOptions& options = {});
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// The state after `step_number` steps and the contacts of the last of them. Every so many steps it becomes a frame.
  void add(int step_number, const State& state, std::span<const Contact> contacts = {});
  /// Throws InputError, naming the file, if not everything could be written (a full disk).
  void finish();

  [[nodiscard]] int num_frames() const;
  /// From one frame to the next.
  [[nodiscard]] int steps_per_frame() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace tangere
