#pragma once

/// Places of the files that belong to the command.

#include <filesystem>
#include <string>

namespace tangere::cli {

/// share/tangere beside the installed command.
[[nodiscard]] std::filesystem::path installed_folder();

/// The folder with the project's scenes: the one that was asked for (`option` names it in errors), or the installed
/// one, or that of the source tree, or ./scenes. Throws InputError if there is none.
[[nodiscard]] std::filesystem::path scenes_folder(const std::string& asked, const std::string& option);

}  // namespace tangere::cli
