#pragma once

/// How MJCF says things: included files, default classes, units and orientations. Private to io.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tangere/io/text/xml_file.hpp"
#include "tangere/math/se3.hpp"

namespace tangere::internal {

/// The main file and those it includes.
class MjcfFiles {
 public:
  MjcfFiles(XmlDocument main, const std::filesystem::path& file);

  [[nodiscard]] XmlElement root() const { return documents_.front().document.root(); }
  /// The folder in which names of other files are looked for.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// The children of an element, with the contents of the file in the place of each <include>. A file can be included
  /// once.
  [[nodiscard]] std::vector<XmlElement> children(const XmlElement& parent);
  /// Notices of everything in all files that nobody asked for.
  [[nodiscard]] std::vector<Notice> unused() const;

 private:
  struct Document {
    /// The <include>; of the main file its own root.
    XmlElement by;
    XmlDocument document;
  };

  void append_children(const XmlElement& parent, std::vector<XmlElement>& all);
  [[nodiscard]] XmlElement included(const XmlElement& include);

  std::filesystem::path folder_;
  /// Size of all included files together.
  std::uintmax_t bytes_ = 0;
  // the main file first
  std::vector<Document> documents_;
  std::map<std::filesystem::path, std::size_t> document_by_path_;
};

/// Fails at the element if it is nested deeper than a file may be; files that include each other count together.
void require_depth(const XmlElement& element, int depth);

/// An element with the defaults of its class behind it. Values that cannot be read are errors where they are written.
class MjcfAttributes {
 public:
  /// The element first, then its defaults, the nearest first.
  explicit MjcfAttributes(std::vector<XmlElement> sources) : sources_(std::move(sources)) {}

  [[nodiscard]] const XmlElement& element() const { return sources_.front(); }
  [[nodiscard]] const std::vector<XmlElement>& sources() const { return sources_; }
  /// Who gives an attribute; null if nobody does.
  [[nodiscard]] const XmlElement* source(const char* attribute) const;
  [[nodiscard]] bool has(const char* attribute) const { return source(attribute) != nullptr; }
  [[noreturn]] void fail(const char* attribute, const std::string& reason) const;

  [[nodiscard]] std::optional<std::string> text(const char* attribute) const;
  [[nodiscard]] std::optional<double> number(const char* attribute) const;
  /// A number that is not negative.
  [[nodiscard]] std::optional<double> amount(const char* attribute) const;
  [[nodiscard]] std::optional<VectorX> numbers(const char* attribute, int least, int most) const;
  /// Up to `most` numbers of which an element may give only the first ones: the others are those of its defaults.
  [[nodiscard]] std::optional<VectorX> overlaid(const char* attribute, int most) const;
  [[nodiscard]] std::optional<Vector3> vector3(const char* attribute) const;
  [[nodiscard]] std::optional<bool> boolean(const char* attribute) const;
  [[nodiscard]] std::optional<std::string> word(const char* attribute,
                                                std::initializer_list<std::string_view> known) const;
  /// Bits as MuJoCo writes them: a whole number of 32 bits, negative or not.
  [[nodiscard]] std::optional<std::uint32_t> bits(const char* attribute) const;

 private:
  std::vector<XmlElement> sources_;
};

/// The tree of <default> classes.
class MjcfDefaults {
 public:
  MjcfDefaults() : classes_{{"main", -1, {}}}, class_by_name_{{"main", 0}} {}

  /// A <default> at the top of a file.
  void read(const XmlElement& element, MjcfFiles& files);
  /// The attributes of an element: its own, then those of the elements called one of `kinds` in its class (by its
  /// `class`, or that of the bodies around it) and in the classes around that.
  [[nodiscard]] MjcfAttributes of(const XmlElement& element, std::initializer_list<std::string_view> kinds,
                                  const std::string& inherited = "") const;
  /// Throws, naming the element's attribute, if there is no such class.
  void require_class(const XmlElement& element, const char* attribute) const;
  /// The value of a class that no element has asked for is no loss: it needs no notice if anybody would have read it.
  void use_known() const;

 private:
  struct Class {
    std::string name;
    int parent;
    std::vector<XmlElement> elements;
  };
  [[nodiscard]] int find(std::string_view name) const;
  void read_into(int index, const XmlElement& element, MjcfFiles& files, int depth);

  std::vector<Class> classes_;
  std::map<std::string, int, std::less<>> class_by_name_;
};

/// <compiler>.
struct MjcfSettings {
  enum class InertiaFromGeom { never, automatic, always };

  bool degrees = true;
  bool autolimits = true;
  bool strip_path = false;
  bool balance_inertia = false;
  bool exact_mesh_inertia = false;
  InertiaFromGeom inertia_from_geom = InertiaFromGeom::automatic;
  /// Geoms of these groups count for the inertia.
  int first_group = 0;
  int last_group = 5;
  std::string euler = "xyz";
  std::string mesh_folder;
  double least_mass = 0.0;
  double least_inertia = 0.0;
  /// Not positive: as it comes.
  double total_mass = -1.0;

  void read(const XmlElement& element);
  [[nodiscard]] double angle(double value) const;
};

/// The rotation that one of quat (w x y z), axisangle, xyaxes, zaxis and euler gives; nothing if none is there.
[[nodiscard]] std::optional<Matrix3> find_orientation(const XmlElement& element, const MjcfSettings& settings);
/// Position and orientation; what is not given is zero.
[[nodiscard]] Pose pose_of(const XmlElement& element, const MjcfSettings& settings);
/// The same with defaults. As in MuJoCo, every other form goes before a quaternion, even that of a class before that of
/// the element; of several others the nearest counts.
[[nodiscard]] Pose pose_of(const MjcfAttributes& attributes, const MjcfSettings& settings);
/// The smallest rotation that takes z to a direction.
[[nodiscard]] Matrix3 rotation_to(const Vector3& direction);
/// A quaternion w x y z of any length but zero; nothing if it is that.
[[nodiscard]] std::optional<Matrix3> rotation_of_wxyz(const Vector4& quaternion);

}  // namespace tangere::internal
