#include "tangere/io/robot/internal/mjcf_attributes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <Eigen/Geometry>

#include "tangere/math/check.hpp"

namespace tangere::internal {

// files
// ---------------------------------------------------------------------------------------------------------------------

namespace {

/// More than any robot has; fewer than the stack can follow where each includes the next.
constexpr std::size_t kMostIncludes = 1000;

std::filesystem::path normal(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path canonical = std::filesystem::weakly_canonical(path, error);
  return error ? path.lexically_normal() : canonical;
}

}  // namespace

MjcfFiles::MjcfFiles(XmlDocument main, const std::filesystem::path& file) : folder_(file.parent_path()) {
  const XmlElement root = main.root();
  documents_.push_back({root, std::move(main)});
  document_by_path_.emplace(normal(file), 0);
}

XmlElement MjcfFiles::included(const XmlElement& include) {
  // beside the main file, or beside the one that includes it
  const std::filesystem::path name = include.text("file");
  const std::filesystem::path beside = std::filesystem::path(include.file()).parent_path() / name;
  std::error_code missing;
  const bool is_beside = !std::filesystem::exists(folder_ / name, missing) && std::filesystem::exists(beside, missing);
  const std::filesystem::path path = is_beside ? beside : folder_ / name;
  const auto [place, is_new] = document_by_path_.emplace(normal(path), documents_.size());
  if (!is_new) {
    const Document& known = documents_[place->second];
    if (known.by == include) return known.document.root();
    include.fail("file", "this file is there already: a file can be included once, and not in itself");
  }
  if (documents_.size() > kMostIncludes)
    include.fail("file", "a model may include at most " + std::to_string(kMostIncludes) + " files");
  std::error_code error;
  if (!std::filesystem::exists(path, error)) include.fail("file", "there is no file '" + path.string() + "'");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  bytes_ += error ? 0 : size;  // the reader says what is wrong with it
  if (bytes_ > kMaxXmlBytes)
    include.fail("file", "included files may have at most " + std::to_string(kMaxXmlBytes >> 20) + " MB together");
  documents_.push_back({include, XmlDocument::load(path)});
  return documents_.back().document.root();
}

void MjcfFiles::append_children(const XmlElement& parent, std::vector<XmlElement>& all) {
  for (const XmlElement& child : parent.children()) {
    if (child.name() == "include")
      append_children(included(child), all);
    else
      all.push_back(child);
  }
}

std::vector<XmlElement> MjcfFiles::children(const XmlElement& parent) {
  std::vector<XmlElement> all;
  append_children(parent, all);
  return all;
}

std::vector<Notice> MjcfFiles::unused() const {
  std::vector<Notice> notices;
  for (const Document& file : documents_) {
    const std::vector<Notice> more = file.document.unused();
    notices.insert(notices.end(), more.begin(), more.end());
  }
  return notices;
}

void require_depth(const XmlElement& element, int depth) {
  if (depth > kMaxXmlDepth)
    element.fail("nested deeper than " + std::to_string(kMaxXmlDepth) + " elements, with the files around it");
}

// attributes
// ---------------------------------------------------------------------------------------------------------------------

const XmlElement* MjcfAttributes::source(const char* attribute) const {
  for (const XmlElement& source : sources_)
    if (source.has(attribute)) return &source;
  return nullptr;
}

void MjcfAttributes::fail(const char* attribute, const std::string& reason) const {
  const XmlElement* from = source(attribute);
  (from == nullptr ? element() : *from).fail(attribute, reason);
}

std::optional<std::string> MjcfAttributes::text(const char* attribute) const {
  const XmlElement* from = source(attribute);
  return from == nullptr ? std::nullopt : from->find_text(attribute);
}

std::optional<double> MjcfAttributes::number(const char* attribute) const {
  const XmlElement* from = source(attribute);
  return from == nullptr ? std::nullopt : from->find_number(attribute);
}

std::optional<double> MjcfAttributes::amount(const char* attribute) const {
  const std::optional<double> value = number(attribute);
  if (value && *value < 0.0) fail(attribute, "must not be negative, got " + to_text(*value));
  return value;
}

std::optional<VectorX> MjcfAttributes::numbers(const char* attribute, int least, int most) const {
  const XmlElement* from = source(attribute);
  return from == nullptr ? std::nullopt : from->find_numbers(attribute, least, most);
}

std::optional<VectorX> MjcfAttributes::overlaid(const char* attribute, int most) const {
  std::optional<VectorX> all;
  for (auto from = sources_.rbegin(); from != sources_.rend(); ++from) {
    const std::optional<VectorX> given = from->find_numbers(attribute, 0, most);
    if (!given) continue;
    if (!all) all.emplace();
    if (all->size() < given->size()) all->conservativeResize(given->size());
    all->head(given->size()) = *given;
  }
  return all;
}

std::optional<Vector3> MjcfAttributes::vector3(const char* attribute) const {
  const XmlElement* from = source(attribute);
  return from == nullptr ? std::nullopt : from->find_vector3(attribute);
}

std::optional<bool> MjcfAttributes::boolean(const char* attribute) const {
  const XmlElement* from = source(attribute);
  return from == nullptr ? std::nullopt : from->find_boolean(attribute);
}

std::optional<std::string> MjcfAttributes::word(const char* attribute,
                                                std::initializer_list<std::string_view> known) const {
  const XmlElement* from = source(attribute);
  return from == nullptr ? std::nullopt : from->find_word(attribute, known);
}

std::optional<std::uint32_t> MjcfAttributes::bits(const char* attribute) const {
  const std::optional<double> value = number(attribute);
  if (!value) return std::nullopt;
  if (*value != std::floor(*value) || *value < -2147483648.0 || *value > 4294967295.0)
    fail(attribute, "must be a whole number of 32 bits, got " + to_text(*value));
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(*value));
}

// default classes
// ---------------------------------------------------------------------------------------------------------------------

int MjcfDefaults::find(std::string_view name) const {
  const auto found = class_by_name_.find(name);
  return found == class_by_name_.end() ? -1 : found->second;
}

void MjcfDefaults::read(const XmlElement& element, MjcfFiles& files) {
  // the class at the top may be given any name
  if (const std::optional<std::string> name = element.find_text("class"); name && *name != classes_[0].name) {
    if (classes_[0].name != "main" || find(*name) > 0) element.fail("class", "there is another class at the top");
    class_by_name_.erase(classes_[0].name);
    class_by_name_.emplace(*name, 0);
    classes_[0].name = *name;
  }
  read_into(0, element, files, 2);
}

void MjcfDefaults::read_into(int index, const XmlElement& element, MjcfFiles& files, int depth) {
  static constexpr std::string_view kKinds[] = {"geom",     "joint",   "mesh", "motor", "position",
                                                "velocity", "general", "site", "pair"};
  for (const XmlElement& child : files.children(element)) {
    require_depth(child, depth + 1);
    const std::string kind = child.name();
    if (kind == "default") {
      const std::string name = child.text("class");
      if (name.empty()) child.fail("class", "must not be empty");
      const int inner = static_cast<int>(classes_.size());
      if (!class_by_name_.emplace(name, inner).second) child.fail("class", "there is a class '" + name + "' already");
      classes_.push_back({name, index, {}});
      read_into(inner, child, files, depth + 1);
    } else if (std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds)) {
      classes_[index].elements.push_back(child);
    } else {
      child.mark_unused();
    }
  }
}

void MjcfDefaults::require_class(const XmlElement& element, const char* attribute) const {
  const std::optional<std::string> name = element.find_text(attribute);
  if (name && find(*name) < 0) element.fail(attribute, "there is no class '" + *name + "'");
}

MjcfAttributes MjcfDefaults::of(const XmlElement& element, std::initializer_list<std::string_view> kinds,
                                const std::string& inherited) const {
  require_class(element, "class");
  const std::string name = element.find_text("class").value_or(inherited);
  std::vector<XmlElement> sources{element};
  for (int i = name.empty() ? 0 : find(name); i >= 0; i = classes_[i].parent) {
    const std::vector<XmlElement>& elements = classes_[i].elements;
    // the last one said rules
    for (auto e = elements.rbegin(); e != elements.rend(); ++e)
      if (std::find(kinds.begin(), kinds.end(), e->name()) != kinds.end()) sources.push_back(*e);
  }
  return MjcfAttributes(std::move(sources));
}

void MjcfDefaults::use_known() const {
  for (const Class& c : classes_) {
    for (const XmlElement& element : c.elements) {
      const std::string kind = element.name();
      if (kind == "geom") {
        element.use({"type", "size", "fromto", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mass",
                     "density", "contype", "conaffinity", "friction", "rgba", "material", "group", "mesh", "fitscale"});
      } else if (kind == "joint") {
        element.use({"type", "pos", "axis", "ref", "springref", "range", "limited", "stiffness", "damping", "armature",
                     "frictionloss", "actuatorfrcrange", "actuatorfrclimited", "group"});
      } else if (kind == "mesh") {
        element.use({"scale", "inertia"});
      } else if (kind == "pair") {
        element.use({"friction"});
      } else if (kind == "site") {
        element.use({"type", "size", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "fromto", "rgba",
                     "material", "group"});
      } else {
        element.use({"ctrlrange", "ctrllimited", "forcerange", "forcelimited", "gear", "group"});
        if (kind == "general") element.use({"gaintype", "gainprm", "biastype", "biasprm", "dyntype"});
        if (kind == "position") element.use({"kp", "kv"});
        if (kind == "velocity") element.use({"kv"});
      }
    }
  }
}

// settings
// ---------------------------------------------------------------------------------------------------------------------

double MjcfSettings::angle(double value) const { return degrees ? value * (std::numbers::pi / 180.0) : value; }

void MjcfSettings::read(const XmlElement& element) {
  const auto set = [&](const char* attribute, bool& value) {
    if (const std::optional<bool> given = element.find_boolean(attribute)) value = *given;
  };
  set("autolimits", autolimits);
  set("strippath", strip_path);
  set("balanceinertia", balance_inertia);
  if (const auto unit = element.find_word("angle", {"degree", "radian"})) degrees = *unit == "degree";
  if (const auto frame = element.find_word("coordinate", {"local", "global"}); frame && *frame == "global")
    element.fail("coordinate",
                 "global coordinates are not read (MuJoCo has dropped them too); save the model as local");
  if (const auto when = element.find_word("inertiafromgeom", {"false", "auto", "true"}))
    inertia_from_geom = *when == "false"  ? InertiaFromGeom::never
                        : *when == "true" ? InertiaFromGeom::always
                                          : InertiaFromGeom::automatic;
  if (const auto range = element.find_numbers("inertiagrouprange", 2, 2)) {
    first_group = static_cast<int>(std::clamp((*range)[0], -1e6, 1e6));
    last_group = static_cast<int>(std::clamp((*range)[1], -1e6, 1e6));
  }
  if (const auto order = element.find_text("eulerseq")) {
    if (order->size() != 3 || order->find_first_not_of("xyzXYZ") != std::string::npos)
      element.fail("eulerseq", "must be three of x, y, z, X, Y, Z, got '" + order->substr(0, 20) + "'");
    euler = *order;
  }
  if (const auto folder = element.find_text("assetdir")) mesh_folder = *folder;
  if (const auto folder = element.find_text("meshdir")) mesh_folder = *folder;
  for (const auto& [attribute, value] :
       {std::pair{"boundmass", &least_mass}, {"boundinertia", &least_inertia}, {"settotalmass", &total_mass}})
    if (const std::optional<double> given = element.find_number(attribute)) *value = *given;
  // a negative total asks for none
  if (least_mass < 0.0) element.fail("boundmass", "must not be negative, got " + to_text(least_mass));
  if (least_inertia < 0.0) element.fail("boundinertia", "must not be negative, got " + to_text(least_inertia));
  set("exactmeshinertia", exact_mesh_inertia);
  element.use({"usethread", "texturedir"});
}

// orientations
// ---------------------------------------------------------------------------------------------------------------------

std::optional<Matrix3> rotation_of_wxyz(const Vector4& quaternion) {
  const double size = quaternion.cwiseAbs().maxCoeff();
  if (!(size > 1e-12)) return std::nullopt;
  const Vector4 q = quaternion / size;
  return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
}

Matrix3 rotation_to(const Vector3& direction) {
  const Vector3 z = direction.stableNormalized();
  const Vector3 axis = Vector3::UnitZ().cross(z);
  const double sine = axis.norm();
  if (sine < 1e-10) return z[2] > 0.0 ? Matrix3(Matrix3::Identity()) : Matrix3(Vector3(1, -1, -1).asDiagonal());
  return Eigen::AngleAxisd(std::atan2(sine, z[2]), axis / sine).toRotationMatrix();
}

namespace {

std::optional<Matrix3> find_quaternion(const XmlElement& element) {
  const std::optional<VectorX> v = element.find_numbers("quat", 4, 4);
  if (!v) return std::nullopt;
  const std::optional<Matrix3> R = rotation_of_wxyz(Vector4(*v));
  if (!R) element.fail("quat", "must not be zero");
  return R;
}

Matrix3 rotation_of_euler(const Vector3& angles, const MjcfSettings& settings) {
  Matrix3 R = Matrix3::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = settings.euler[i];
    const bool moving = letter >= 'x';
    const Matrix3 turn =
        Eigen::AngleAxisd(settings.angle(angles[i]), Vector3::Unit(letter - (moving ? 'x' : 'X'))).toRotationMatrix();
    R = moving ? Matrix3(R * turn) : Matrix3(turn * R);
  }
  return R;
}

/// The forms other than a quaternion. Looks at `quat` only if one is there.
std::optional<Matrix3> find_other_than_quaternion(const XmlElement& element, const MjcfSettings& settings) {
  std::optional<Matrix3> R;
  const char* first = nullptr;
  const auto given = [&](const char* attribute, int count) {
    std::optional<VectorX> value = element.find_numbers(attribute, count, count);
    if (value && first == nullptr && element.has("quat")) first = "quat";
    if (value && first != nullptr)
      element.fail(attribute, std::string("one orientation is enough, there is '") + first + "' already");
    if (value) first = attribute;
    return value;
  };
  const auto direction = [&](const char* attribute, const Vector3& v) -> Vector3 {
    if (!(v.stableNorm() > 1e-10)) element.fail(attribute, "must not be zero, or parallel axes");
    return v.stableNormalized();
  };
  if (const auto v = given("axisangle", 4))
    R = Eigen::AngleAxisd(settings.angle((*v)[3]), direction("axisangle", v->head<3>())).toRotationMatrix();
  if (const auto v = given("xyaxes", 6)) {
    const Vector3 x = direction("xyaxes", v->head<3>());
    const Vector3 given_y = direction("xyaxes", v->tail<3>());
    const Vector3 y = direction("xyaxes", given_y - given_y.dot(x) * x);
    R.emplace();
    *R << x, y, x.cross(y);
  }
  if (const auto v = given("zaxis", 3)) R = rotation_to(direction("zaxis", *v));
  if (const auto v = given("euler", 3)) R = rotation_of_euler(*v, settings);
  return R;
}

}  // namespace

std::optional<Matrix3> find_orientation(const XmlElement& element, const MjcfSettings& settings) {
  const std::optional<Matrix3> R = find_other_than_quaternion(element, settings);
  return R ? R : find_quaternion(element);
}

Pose pose_of(const XmlElement& element, const MjcfSettings& settings) {
  return {find_orientation(element, settings).value_or(Matrix3::Identity()),
          element.find_vector3("pos").value_or(Vector3::Zero())};
}

Pose pose_of(const MjcfAttributes& attributes, const MjcfSettings& settings) {
  Pose X = Pose::translation(attributes.vector3("pos").value_or(Vector3::Zero()));
  // a quaternion is looked at last, so that it is reported where it does not count
  for (const XmlElement& source : attributes.sources()) {
    if (const std::optional<Matrix3> R = find_other_than_quaternion(source, settings)) {
      X.R = *R;
      return X;
    }
  }
  for (const XmlElement& source : attributes.sources()) {
    if (const std::optional<Matrix3> R = find_quaternion(source)) {
      X.R = *R;
      return X;
    }
  }
  return X;
}

}  // namespace tangere::internal
