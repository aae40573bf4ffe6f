#include "apps/cli/interrupt.hpp"

#include <chrono>
#include <csignal>
#include <thread>

namespace tangere::cli {
namespace {

volatile std::sig_atomic_t received_signal = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  received_signal = 0;
  for (const int s : {SIGINT, SIGTERM}) std::signal(s, [](int received) { received_signal = received; });
}

InterruptGuard::~InterruptGuard() {
  for (const int s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);
}

int interrupted_by() { return received_signal; }

void wait_for_interrupt() {
  // any thread may get the signal, so there is nothing to wait on but time
  while (received_signal == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace tangere::cli
