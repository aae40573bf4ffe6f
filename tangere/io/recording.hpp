#pragma once

/// Recordings of simulations, one JSON file each (docs/simulate.md has the schema): shapes, poses a frame, contacts,
/// channels, ghosts.
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
#include <string_view>

#include "tangere/contact/contact.hpp"
#include "tangere/io/recording/recording_data.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// Hears what a recording says while it is written: a live view, a page.
class RecordingListener {
 public:
  RecordingListener() = default;
  RecordingListener(const RecordingListener&) = delete;
  RecordingListener& operator=(const RecordingListener&) = delete;
  virtual ~RecordingListener() = default;
  /// Texts as in recording_text.hpp: the header with its last line, then frames.
  virtual void on_header(std::string_view header) = 0;
  virtual void on_frame(std::string_view frame) = 0;
  virtual void on_finish() = 0;
};

struct RecordingOptions {
  /// At most this many frames a simulated second; above 0.
  double frames_per_second = 60.0;
  /// Whether frames have the state (q, v) besides the poses.
  bool state = true;
  /// Origin of the file, besides the version of the library and the options of the world.
  RecordingStamp made_by{};
  /// Scalars of the caller's, whose values `add` is given, after those that every recording has.
  std::vector<RecordedChannel> channels{};
  RecordingListener* listener = nullptr;
};

/// Writes as it goes, under the name `out.json.partial` beside the file; `finish` gives it its name, and an older file
/// stays until then. What is not finished keeps that other name and can be read as it is, to the last frame before the
/// end or the crash.
class RecordingWriter {
 public:
  /// Throws InputError, naming the file, if it cannot be written. An empty name writes no file: the listener hears all.
  RecordingWriter(const World& world, const std::filesystem::path& file, const RecordingOptions& options = {});
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Another trajectory of the same bodies, seen through beside this one: times and configurations. Before the first
  /// frame; throws InputError otherwise, and for sizes that do not fit.
  void add_ghost(const std::string& name, std::span<const double> times, std::span<const VectorX> configurations);
  /// The state after `step_number` steps and the contacts of the last of them; `values` of the caller's channels. Every
  /// so many steps it becomes a frame. Throws InputError for a wrong number of values.
  void add(int step_number, const State& state, std::span<const Contact> contacts = {},
           std::span<const double> values = {});
  /// Throws InputError, naming the file, if not everything could be written (a full disk).
  void finish();

  [[nodiscard]] int num_frames() const;
  /// From one frame to the next.
  [[nodiscard]] int steps_per_frame() const;
  /// Path of the unfinished recording; empty if there is no file.
  [[nodiscard]] const std::filesystem::path& partial_file() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace tangere
