#pragma once

/// A recording while it is made, for those who watch: the simulation puts frames in, watchers take them out at their
/// own pace and never hold the simulation up. Safe to use from several threads.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tangere/io/recording.hpp"

namespace tangere::cli {

class LiveRecording : public RecordingListener {
 public:
  using Text = std::shared_ptr<const std::string>;
  struct Frame {
    double t;
    Text text;
  };

  /// Bytes of frames that are kept; beyond that every second frame goes.
  explicit LiveRecording(std::size_t most_bytes = std::size_t{256} << 20) : most_bytes_(most_bytes) {}

  /// A recording that is whole already.
  void set_whole(std::string text);

  void on_header(std::string_view header) override;
  void on_frame(std::string_view frame) override;
  void on_finish() override;
  /// Called, in the thread of the simulation, whenever there is something new.
  void set_wake(std::function<void()> wake);

  /// The text so far, in pieces that follow each other and cost nothing to hold; none before the header.
  [[nodiscard]] std::vector<Text> pieces() const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::size_t num_frames() const;
  /// The first frame later than `t`; the newest one for a watcher who is more than `most_behind` frames behind.
  [[nodiscard]] std::optional<Frame> after(double t, std::size_t most_behind) const;

 private:
  void thin_out();

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  /// The header of a run, or all of a recording that is whole.
  Text start_;
  bool whole_ = false;
  std::deque<Frame> frames_;
  std::size_t bytes_ = 0;
  /// Every so many frames is kept, and how many came since the last one that was.
  std::size_t keep_every_ = 1;
  std::size_t since_kept_ = 0;
  bool finished_ = false;
  std::function<void()> wake_;
};

}  // namespace tangere::cli
