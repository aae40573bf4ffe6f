#pragma once

/// Ctrl-C as something to look at between two steps, instead of the end of everything.

namespace tangere::cli {

/// While it lives, SIGINT and SIGTERM only set `interrupted_by`.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// The number of the signal that came; 0: none.
[[nodiscard]] int interrupted_by();

/// Waits until a signal comes.
void wait_for_interrupt();

}  // namespace tangere::cli
