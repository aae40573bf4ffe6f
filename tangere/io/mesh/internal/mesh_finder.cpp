#include "tangere/io/mesh/internal/mesh_finder.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tangere/math/error.hpp"

namespace tangere::internal {
namespace {

namespace fs = std::filesystem;

/// `%20` and the like.
std::string decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    result += escaped ? static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2])) : text[i];
    if (escaped) i += 2;
  }
  return result;
}

void add(std::vector<fs::path>& list, const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  if (std::find(list.begin(), list.end(), normal) == list.end()) list.push_back(normal);
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

MeshFinder::MeshFinder(const fs::path& robot_file, const std::vector<fs::path>& search_paths) {
  std::error_code error;
  fs::path folder = fs::absolute(robot_file, error).parent_path();
  if (error) folder = robot_file.parent_path();
  for (;; folder = folder.parent_path()) {
    add(own_, folder);
    if (folder == folder.parent_path()) break;
  }
  for (const fs::path& path : search_paths) add(others_, path);
  const char* const packages = std::getenv("ROS_PACKAGE_PATH");
  for (std::string_view rest = packages != nullptr ? packages : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) add(others_, fs::path(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::vector<fs::path> MeshFinder::candidates(const std::string& name) const {
  std::vector<fs::path> paths;
  constexpr std::string_view kFile = "file://";
  constexpr std::string_view kPackage = "package://";
  if (name.starts_with(kFile)) {
    std::string path = decoded(std::string_view(name).substr(kFile.size()));
    if (path.starts_with("localhost/")) path.erase(0, 9);
    add(paths, path);
    return paths;
  }
  if (!name.starts_with(kPackage)) {
    if (name.find("://") != std::string::npos)
      throw InputError("filename", "must be a path, file://… or package://…, got '" + name + "'");
    for (const auto* folders : {&own_, &others_})
      for (const fs::path& folder : *folders) add(paths, folder / name);
    return paths;
  }

  // `package:///name/…` means the same to other engines
  std::string_view behind = std::string_view(name).substr(kPackage.size());
  while (behind.starts_with('/')) behind.remove_prefix(1);
  const fs::path whole = decoded(behind);
  const std::string package = whole.empty() ? "" : whole.begin()->string();
  fs::path rest;
  for (auto part = whole.begin(); part != whole.end(); ++part)
    if (part != whole.begin()) rest /= *part;
  for (const auto* folders : {&own_, &others_}) {
    for (const fs::path& folder : *folders) {
      add(paths, folder / whole);
      if (folder.filename() == package) add(paths, folder / rest);
    }
  }
  for (const fs::path& folder : own_) add(paths, folder / rest);
  return paths;
}

FoundMesh MeshFinder::find(const std::string& name) const {
  if (name.empty()) throw InputError("filename", "must not be empty");
  const std::vector<fs::path> paths = candidates(name);
  const auto found = std::find_if(paths.begin(), paths.end(), is_file);
  if (found != paths.end()) {
    const bool by_relative_path = name.find("://") == std::string::npos && fs::path(name).is_relative();
    if (!by_relative_path || found == paths.begin()) return {*found, ""};
    return {*found, "there is no '" + name + "' beside the file: taken is " + found->string()};
  }
  std::string list;
  for (const fs::path& path : paths) list += "\n  " + path.string();
  throw InputError("filename", "there is no file '" + name + "'; looked for" + list);
}

}  // namespace tangere::internal
