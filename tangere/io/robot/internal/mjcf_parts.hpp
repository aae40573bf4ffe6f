#pragma once

/// Contents of an MJCF file before they become a model. Private to io.
///
/// The order is MuJoCo's: bodies depth first, body 0 the world.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/mesh_hull.hpp"
#include "tangere/io/robot/internal/mjcf_attributes.hpp"
#include "tangere/io/robot_file.hpp"
#include "tangere/multibody/joint.hpp"

namespace tangere::internal {

/// Ends of ranges that are as far out are none: MJCF has no word for a range with one end.
inline constexpr double kNoMjcfLimit = 1e10;

struct MjcfMesh {
  std::shared_ptr<const TriangleMesh> mesh;
  MeshHull hull;
  /// At a density of 1, in the frame of the mesh.
  MassProperties solid;
};

/// The bits that decide with whom a geom collides.
struct MjcfContactBits {
  std::uint32_t contype;
  std::uint32_t conaffinity;
  /// Geoms named by <pair> only: their number, from 1.
  int in_pair = 0;
  auto operator<=>(const MjcfContactBits&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct MjcfGeom {
  XmlElement element;
  std::string name;
  Shape shape;
  Pose X_BS;
  /// To draw in place of the shape.
  std::shared_ptr<const TriangleMesh> mesh;
  Pose X_BM;
  Vector4 color;
  double friction;
  std::uint32_t contype;
  std::uint32_t conaffinity;
  int group;
  /// In the body's frame; massless for planes.
  MassProperties inertia;
  /// Which of the geoms that <pair> names, from 1; 0: none of them.
  int in_pair = 0;
  /// The largest that a <pair> gives it.
  std::optional<double> friction_of_pair{};

  [[nodiscard]] bool collides() const { return contype != 0 || conaffinity != 0 || in_pair != 0; }
  [[nodiscard]] MjcfContactBits bits() const { return {contype, conaffinity, in_pair}; }
};

struct MjcfJoint {
  XmlElement element;
  std::string name;
  JointType type;
  /// In the body's frame.
  Vector3 anchor;
  Vector3 axis;
  /// The coordinate at which the body is where the file has it.
  double ref;
  DofSpec dof;
  std::optional<Mimic> mimic;
  /// In the model.
  int index = -1;
};

struct MjcfBody {
  XmlElement element;
  std::string name;
  int parent;
  Pose X_PB;
  /// Pose in the file.
  Pose X_WB;
  std::vector<MjcfJoint> joints;
  std::vector<MjcfGeom> geoms;
  /// <inertial>, and what it says.
  std::optional<XmlElement> inertial_element{};
  std::optional<MassProperties> inertial{};
  /// The resulting inertia.
  MassProperties inertia{0.0, Vector3::Zero(), Matrix3::Zero()};
  /// In the model; kWorld for the world without geoms.
  int index = -1;
};

struct MjcfSite {
  XmlElement element;
  std::string name;
  int body;
  Pose X_BS;
};

/// Everything on the way from the files to the robot.
struct MjcfReader {
  MjcfFiles files;
  const LoadOptions& options;
  MjcfSettings settings;
  MjcfDefaults defaults;
  std::map<std::string, MjcfMesh> meshes;
  std::map<std::string, Vector4> materials;
  std::vector<MjcfBody> bodies;
  std::map<std::string, int> body_by_name;
  /// The body, and which of its joints.
  std::map<std::string, std::pair<int, std::size_t>> joint_by_name;
  std::set<std::string> geom_names;
  std::vector<Notice> notices;
  std::vector<MjcfSite> sites{};
  std::map<std::string, int> site_by_name{};
  /// Pairs of geoms that collide whatever their bits are: two MjcfGeom::in_pair each.
  std::set<std::pair<int, int>> contact_pairs{};
  int geoms_in_pairs = 0;
  /// The suffix that <replicate> puts behind names, and the number of copies.
  std::string name_suffix{};
  int replicas = 0;

  void report(const XmlElement& element, std::string text, NoticeRank rank = NoticeRank::motion) {
    notices.push_back(element.notice(std::move(text), rank));
  }
  [[nodiscard]] MjcfBody& body(int i) { return bodies[i]; }
  /// With what <replicate> puts behind it; empty if it has none.
  [[nodiscard]] std::string name_of(const XmlElement& element) const;
  /// The site called by an attribute; throws if there is none.
  [[nodiscard]] const MjcfSite& site_named(const XmlElement& element, const char* attribute) const;
  /// The body called by an attribute; throws if there is none.
  [[nodiscard]] int body_named(const XmlElement& element, const char* attribute) const;
  /// The joint called by an attribute; null if the name is unknown (the caller says what then).
  [[nodiscard]] MjcfJoint* find_joint(const std::string& name);
  /// The two numbers of `range` if they count: `limited` is true, or auto with autolimits on (two zeros are no range
  /// then). What does not count for autolimits alone is reported.
  [[nodiscard]] std::optional<Eigen::Vector2d> counted_range(const MjcfAttributes& attributes, const char* limited,
                                                             const char* range);
};

/// Element <asset>: meshes and colours.
void read_assets(MjcfReader& reader, const XmlElement& element);
/// Nothing for a type that is not read (reported). X_BF is the frame the geom is given in.
[[nodiscard]] std::optional<MjcfGeom> read_geom(MjcfReader& reader, const XmlElement& element,
                                                const std::string& inherited, const Pose& X_BF);
/// The world, without anything in it.
void add_world(MjcfReader& reader, const XmlElement& element);
/// Element <worldbody>: all bodies.
void read_world(MjcfReader& reader, const XmlElement& element);
/// Masses and inertias of all bodies, by the settings.
void settle_inertias(MjcfReader& reader);

/// A name that is not taken yet: the wanted one or with a number behind; takes it.
[[nodiscard]] std::string new_name(const std::string& wanted, std::set<std::string>& taken);

/// Group and mask for each pair (contype, conaffinity). MuJoCo lets two geoms collide if the type of one meets the
/// affinity of the other; here both have to. The numbers are kept where that is the same for all pairs; else each pair
/// of numbers becomes a group of its own. Empty if there are too many of them.
/// Whether a model gets these groups and masks, or the numbers of the file.
enum class ContactBits { settled, as_given };
/// `pairs`: two `in_pair` each, which meet whatever their bits are.
[[nodiscard]] std::map<MjcfContactBits, MjcfContactBits> both_ways(const std::set<MjcfContactBits>& given,
                                                                   const std::set<std::pair<int, int>>& pairs = {});

// sections that need the model's indices
[[nodiscard]] Model build_model(MjcfReader& reader, const std::vector<XmlElement>& sections, const std::string& name,
                                ContactBits contact_bits);
/// Element by element as MuJoCo numbers controls; nothing for one that is not read.
[[nodiscard]] std::vector<std::optional<Actuator>> read_actuators(MjcfReader& reader,
                                                                  const std::vector<XmlElement>& sections,
                                                                  const Model& model);
[[nodiscard]] std::vector<Keyframe> read_keyframes(MjcfReader& reader, const std::vector<XmlElement>& sections,
                                                   const Model& model,
                                                   const std::vector<std::optional<Actuator>>& actuators);

}  // namespace tangere::internal
