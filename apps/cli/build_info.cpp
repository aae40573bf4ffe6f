#include "apps/cli/build_info.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <CLI/Version.hpp>
#include <Eigen/Core>
#include <nlohmann/json.hpp>

#include "tangere/version.hpp"
#include "tangere_cli_commit.hpp"

namespace tangere::cli {
namespace {

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string find_on_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace

std::string program_name() { return "tangere " + std::string(kVersion); }

std::string commit() { return TANGERE_CLI_COMMIT; }

nlohmann::json made_by() { return {{"program", program_name()}, {"commit", commit()}}; }

std::string compiler() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#else
  return std::string("g++ ") + __VERSION__;
#endif
}

std::string build_type() { return TANGERE_CLI_BUILD_TYPE; }

bool native_flags() { return TANGERE_CLI_NATIVE != 0; }

int vector_bits() {
#if defined(__AVX512F__)
  return 512;
#elif defined(__AVX__)
  return 256;
#else
  return 128;
#endif
}

bool asserts_alive() {
#ifdef TANGERE_ENABLE_ASSERTS
  return true;
#else
  return false;
#endif
}

InfoList libraries() {
  return {
      {"Eigen", dotted(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"Qhull", TANGERE_CLI_QHULL_VERSION},
      {"nlohmann-json", dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"CLI11", CLI11_VERSION},
  };
}

std::vector<Tool> optional_tools() {
  std::vector<Tool> tools = {
      {"cmake", "building", ""},           {"ninja", "building", ""},
      {"ccache", "building again", ""},    {"clang++", "make test-clang", ""},
      {"clang-format", "make format", ""}, {"clang-tidy", "make tidy", ""},
      {"python3", "test scripts", ""},     {"node", "the viewer", ""},
      {"npm", "the viewer", ""},           {"chromium", "tests of the viewer", ""},
  };
  for (Tool& tool : tools) tool.path = find_on_path(tool.name);
  return tools;
}

}  // namespace tangere::cli
