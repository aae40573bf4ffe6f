#include "apps/cli/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace tangere::cli {
namespace {

constexpr int kWidth = 40;
constexpr std::chrono::milliseconds kPause(100);

}  // namespace

Progress::Progress(std::string what, long total)
    : what_(std::move(what)),
      total_(total),
      on_(total > 0 && isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

void Progress::show(long done) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kPause) return;
  last_ = now;
  drawn_ = true;
  const double part = static_cast<double>(done) / static_cast<double>(total_);
  const int filled = static_cast<int>(part * kWidth);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double left = done > 0 ? seconds * (1.0 - part) / part : 0.0;
  std::fprintf(stderr, "\r%s [%.*s%*s] %3.0f %%, %.0f s left ", what_.c_str(), filled,
               "########################################", kWidth - filled, "", 100.0 * part, left);
  std::fflush(stderr);
}

void Progress::clear() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace tangere::cli
