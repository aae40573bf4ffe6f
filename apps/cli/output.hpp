#pragma once

/// Standard output as something that can fail: on a full disk a command must not say that all went well.

namespace tangere::cli {

/// Hands on what was printed. The command's exit code, or kExitFailed with a message if something printed was lost. A
/// reader who has gone (`| head`) is no failure: nobody is left to tell.
[[nodiscard]] int finish_output(int code);

}  // namespace tangere::cli
