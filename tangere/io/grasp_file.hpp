#pragma once

/// Problems of planning through contact as files (docs/optimise.md has the schema).
///
///   {"format": "tangere-grasp", "version": 1, "scene": "../grasp.xml", "object": "object", "fingers": ["left",
///   "right"],
///    "goal": {"object_x": 1.5, "object_z": 1}, "samples": {"object_x": [0, 2], "object_z": [0.4, 2]}}

#include <filesystem>
#include <string>

#include "tangere/trajopt/contact_rrt.hpp"

namespace tangere {

struct GraspFile {
  std::string name;
  ContactRrtProblem problem;
  ContactRrtOptions options;
};

/// Whether a file says that it is such a problem.
[[nodiscard]] bool is_grasp_file(const std::filesystem::path& file);
/// Throws InputError with file, line and place.
[[nodiscard]] GraspFile load_grasp(const std::filesystem::path& file);

}  // namespace tangere
