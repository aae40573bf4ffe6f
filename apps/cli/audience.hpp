#pragma once

/// Watchers of a run besides its recording: a page that is written at its end, browsers that look on while it goes.

#include <chrono>
#include <memory>
#include <string>

#include "apps/cli/view_server.hpp"
#include "apps/cli/viewer_page.hpp"

namespace tangere::cli {

class Audience : public RecordingListener {
 public:
  /// Empty and false: nobody. Throws InputError if the viewer was not built, the page cannot be written there, or the
  /// port cannot be had: before the first step, not after the last.
  Audience(std::string html, bool live, std::uint16_t port);

  [[nodiscard]] bool is_there() const { return !html_.empty() || server_ != nullptr; }
  /// Says where to look, once there is something to see.
  void announce() const;
  /// A live run is not faster than the clock: waits until as much real time has passed as simulated time, or until
  /// somebody interrupts.
  void keep_pace(double simulated_seconds) const;
  /// Writes the page, with what there is by now.
  void write_page() const;
  /// A live run that is over can still be looked at, until somebody interrupts.
  void stay() const;

  void on_header(std::string_view header) override;
  void on_frame(std::string_view frame) override;
  void on_finish() override;

 private:
  std::string html_;
  std::string page_;
  RecordingText text_;
  LiveRecording live_;
  std::unique_ptr<ViewServer> server_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tangere::cli
