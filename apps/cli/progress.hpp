#pragma once

/// A progress bar on stderr; nothing at all where stderr is not a terminal.

#include <chrono>
#include <string>

namespace tangere::cli {

class Progress {
 public:
  Progress(std::string what, long total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Drawn at most ten times a second.
  void show(long done);
  /// Takes the bar away.
  void clear();

 private:
  std::string what_;
  long total_;
  bool on_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tangere::cli
