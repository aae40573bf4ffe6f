#pragma once

/// Finds the meshes of a robot file. Private to io.

#include <filesystem>
#include <string>
#include <vector>

namespace tangere::internal {

struct FoundMesh {
  std::filesystem::path path;
  /// A remark if the mesh was not where its name says; else empty.
  std::string remark;
};

/// Looks in the robot file's own folder and its parents, then in the search paths given, then in ROS_PACKAGE_PATH.
///
///   package://name/rest   name/rest in any of them, rest in one that is called name, rest in the file's folders (a
///                         package under another name)
///   file:///path          the path
///   a relative path       in the file's folder, its parents and the search paths
class MeshFinder {
 public:
  MeshFinder(const std::filesystem::path& robot_file, const std::vector<std::filesystem::path>& search_paths);

  /// Throws InputError `filename` that lists where it looked.
  [[nodiscard]] FoundMesh find(const std::string& name) const;

 private:
  [[nodiscard]] std::vector<std::filesystem::path> candidates(const std::string& name) const;

  std::vector<std::filesystem::path> own_;
  std::vector<std::filesystem::path> others_;
};

}  // namespace tangere::internal
