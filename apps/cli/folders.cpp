#include "apps/cli/folders.hpp"

#include <system_error>

#include "tangere/math/error.hpp"

namespace tangere::cli {

std::filesystem::path installed_folder() {
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  return program.parent_path().parent_path() / "share" / "tangere";
}

std::filesystem::path scenes_folder(const std::string& asked, const std::string& option) {
  if (!asked.empty()) {
    if (!std::filesystem::is_directory(asked)) throw InputError(option, "is not a folder: " + asked);
    return asked;
  }
  for (const std::filesystem::path& folder :
       {installed_folder() / "scenes", std::filesystem::path(TANGERE_CLI_SCENES), std::filesystem::path("scenes")})
    if (std::filesystem::is_directory(folder)) return folder;
  throw InputError(option, "the folder scenes of the project is not here: name it");
}

}  // namespace tangere::cli
