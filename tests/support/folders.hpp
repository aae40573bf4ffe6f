#pragma once

/// Folders of files that tests read.

#include <filesystem>

namespace tangere::test {

/// tests/data
std::filesystem::path data_folder();

/// scenes/
std::filesystem::path scenes_folder();

}  // namespace tangere::test
