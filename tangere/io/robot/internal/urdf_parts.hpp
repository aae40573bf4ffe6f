#pragma once

/// Between the two halves of the URDF reader: links here, joints and the tree in urdf_reader.cpp. Private to io.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tangere/geometry/mesh_hull.hpp"
#include "tangere/io/mesh/internal/mesh_finder.hpp"
#include "tangere/io/robot_file.hpp"
#include "tangere/io/text/xml_file.hpp"

namespace tangere::internal {

/// Efforts and velocities from here on are no limit: the format has no other way to say so.
inline constexpr double kNoUrdfLimit = 1e300;

/// Element <origin> of `parent`; the identity if there is none.
[[nodiscard]] Pose read_origin(const XmlElement& parent);

/// URDF has cylinders and capsules along z: the pose, in such a frame, of one of ours, along x.
[[nodiscard]] Pose urdf_axis();

class UrdfLinkReader {
 public:
  UrdfLinkReader(const std::filesystem::path& file, const LoadOptions& options, std::vector<Notice>& notices)
      : finder_(file, options.search_paths), options_(options), notices_(notices) {}

  /// The colour of a <material> of the robot, or of the first link that gives one.
  void read_material(const XmlElement& material);
  [[nodiscard]] BodySpec read(const XmlElement& link);

 private:
  struct Mesh {
    std::shared_ptr<const TriangleMesh> mesh;
    std::optional<MeshHull> hull;
  };

  [[nodiscard]] CollisionShape read_collision(const XmlElement& collision);
  /// Nothing if its mesh cannot be read.
  [[nodiscard]] std::optional<VisualShape> read_visual(const XmlElement& visual);
  [[nodiscard]] Vector4 read_color(const XmlElement& visual);
  [[nodiscard]] Mesh& mesh(const XmlElement& element);

  MeshFinder finder_;
  const LoadOptions& options_;
  std::vector<Notice>& notices_;
  std::map<std::string, Vector4> colors_;
  // by path and scale: most are used twice
  std::map<std::pair<std::string, std::vector<double>>, Mesh> meshes_;
};

}  // namespace tangere::internal
