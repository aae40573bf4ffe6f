#include "apps/cli/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "apps/cli/commands.hpp"

namespace tangere::cli {
namespace {

/// A pipe or socket whose other end is closed.
bool reader_has_gone() {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

}  // namespace

int finish_output(int code) {
  // --help and --version go through the stream
  std::cout.flush();
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return code;
  if (reason == EPIPE || reader_has_gone()) return code;
  // closed on purpose (>&-)
  if (reason == EBADF) return code;
  std::fprintf(stderr, "tangere: cannot write standard output%s%s\n", reason != 0 ? ": " : "",
               reason != 0 ? std::strerror(reason) : "");
  return code != kExitOk ? code : kExitFailed;
}

}  // namespace tangere::cli
