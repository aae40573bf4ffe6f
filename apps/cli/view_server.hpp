#pragma once

/// Serves the viewer's page and one recording to browsers of this machine, and to no one else:
///
///   GET /            the page
///   GET /recording   the text of the recording, as far as it goes
///   /live?after=t    a WebSocket: frames as they come, one a message, then `end` and the number of frames there were,
///                    or `gone` if the command ends before the run does
///
/// It listens on the loopback address only. Other names for this machine in `Host` (DNS rebinding), other pages'
/// `Origin`, other methods and other targets are refused; there are no files behind it, so no path leads to one. What
/// clients send is limited in size and time, and thrown away. A watcher who is slow misses frames.

#include <cstdint>
#include <memory>
#include <string>

#include "apps/cli/live_recording.hpp"

namespace tangere::cli {

class ViewServer {
 public:
  /// Listens in a thread of its own until it is destroyed; port 0: any that is free. The recording must outlive it.
  /// Throws InputError if the port cannot be had.
  ViewServer(std::string page, LiveRecording& recording, std::uint16_t port);
  ~ViewServer();
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  /// `http://127.0.0.1:8080/`.
  [[nodiscard]] std::string address() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tangere::cli
