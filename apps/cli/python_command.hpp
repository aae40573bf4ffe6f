#pragma once

#include <optional>

namespace tangere::cli {

/// Runs what belongs to the Python package, in the place of this process: `tangere sweep …`, and
/// `tangere experiment NAME --engine …`, an experiment as a sweep (docs/sweeps.md). Nothing if it is another command;
/// else the exit code, which is only left where Python cannot be started.
[[nodiscard]] std::optional<int> run_python_command(int argc, char** argv);

}  // namespace tangere::cli
