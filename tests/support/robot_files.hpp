#pragma once

/// Robots of other people, where they are at hand: not part of this repository.

#include <cstdlib>
#include <filesystem>

#include "tests/support/folders.hpp"

namespace tangere::test {

/// A file below the folder of robots: TANGERE_ROBOTS, or `../shared/robots` beside this repository. Empty if it is not
/// there.
inline std::filesystem::path robot_file(const std::filesystem::path& name) {
  const char* given = std::getenv("TANGERE_ROBOTS");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path(given) : data_folder() / "../../../shared/robots";
  std::error_code error;
  return std::filesystem::exists(folder / name, error) ? folder / name : std::filesystem::path();
}

}  // namespace tangere::test
