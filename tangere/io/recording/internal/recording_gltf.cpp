/// glTF 2.0: everything that is a number goes to one binary buffer, written into the file as base64; what describes it
/// is JSON around that.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <span>

#include <Eigen/Geometry>
#include <nlohmann/json.hpp>

#include "tangere/geometry/bounds.hpp"
#include "tangere/io/recording_export.hpp"
#include "tangere/io/shape_json.hpp"
#include "tangere/math/error.hpp"
#include "tangere/version.hpp"

namespace tangere {
namespace {

using Json = nlohmann::ordered_json;

// numbers of the standard
constexpr int kFloat = 5126;
constexpr int kUnsignedInt = 5125;
constexpr int kArrayBuffer = 34962;
constexpr int kElementArrayBuffer = 34963;

std::string base64(std::span<const unsigned char> bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < left ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= left ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

/// The numbers of the format. `what` is said of one that is too large for it.
float single(double value, const std::string& what) {
  if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())))
    throw InputError(what, Json(value).dump() + " is too large for glTF, whose numbers are of single precision");
  return static_cast<float>(value);
}

Json numbers(const auto& values, const std::string& what) {
  Json list = Json::array();
  for (const double value : values) {
    (void)single(value, what);
    list.push_back(value);
  }
  return list;
}

/// The document as it grows.
class Document {
 public:
  Document() {
    json_["asset"] = {{"version", "2.0"}, {"generator", "tangere " + std::string(kVersion)}};
    json_["scene"] = 0;
    for (const char* list : {"scenes", "nodes", "meshes", "materials", "animations", "accessors", "bufferViews"})
      json_[list] = Json::array();
  }

  int add(const char* list, Json entry) {
    json_[list].push_back(std::move(entry));
    return static_cast<int>(json_[list].size()) - 1;
  }
  Json& entry(const char* list, int index) { return json_[list][index]; }

  /// `width` floats an element; with the range of each where the standard wants it.
  int add_floats(const std::vector<float>& values, std::size_t width, const char* type, bool with_range, int target) {
    Json accessor = {{"bufferView", add_view(values, target)},
                     {"componentType", kFloat},
                     {"count", values.size() / width},
                     {"type", type}};
    if (with_range) {
      std::vector<float> low(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(width));
      std::vector<float> high = low;
      for (std::size_t i = 0; i < values.size(); ++i) {
        low[i % width] = std::min(low[i % width], values[i]);
        high[i % width] = std::max(high[i % width], values[i]);
      }
      accessor["min"] = low;
      accessor["max"] = high;
    }
    return add("accessors", std::move(accessor));
  }

  int add_indices(const std::vector<std::uint32_t>& values) {
    return add("accessors", {{"bufferView", add_view(values, kElementArrayBuffer)},
                             {"componentType", kUnsignedInt},
                             {"count", values.size()},
                             {"type", "SCALAR"}});
  }

  /// Lists that stayed empty are left out, as the standard wants it.
  [[nodiscard]] std::string text() {
    for (const char* list : {"meshes", "materials", "animations", "accessors", "bufferViews"})
      if (json_[list].empty()) json_.erase(list);
    if (!bytes_.empty())
      json_["buffers"] = {
          {{"byteLength", bytes_.size()}, {"uri", "data:application/octet-stream;base64," + base64(bytes_)}}};
    return json_.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  /// All numbers are four bytes, so that everything stays aligned. `target` 0: none, as for animations.
  template <class Number>
  int add_view(const std::vector<Number>& values, int target) {
    static_assert(sizeof(Number) == 4);
    const std::size_t offset = bytes_.size();
    bytes_.resize(offset + 4 * values.size());
    std::memcpy(bytes_.data() + offset, values.data(), 4 * values.size());
    Json view = {{"buffer", 0}, {"byteOffset", offset}, {"byteLength", 4 * values.size()}};
    if (target != 0) view["target"] = target;
    return add("bufferViews", std::move(view));
  }

  Json json_;
  std::vector<unsigned char> bytes_;
};

/// Round all over: normals are those of the vertices. All others are drawn with flat faces, which is the standard's own
/// way where no normals are given.
bool is_round(const RecordedShape& shape) {
  return shape.shape && (shape.shape->get_if<Sphere>() != nullptr || shape.shape->get_if<Ellipsoid>() != nullptr ||
                         shape.shape->get_if<Capsule>() != nullptr);
}

std::vector<float> vertex_normals(const TriangleMesh& mesh) {
  std::vector<Vector3> sums(mesh.vertices.size(), Vector3::Zero());
  for (const auto& triangle : mesh.triangles) {
    std::array<Vector3, 3> p;
    for (std::size_t k = 0; k < 3; ++k) p[k] = mesh.vertices[triangle[k]];
    const Vector3 area = (p[1] - p[0]).cross(p[2] - p[0]);
    for (const int corner : triangle) sums[corner] += area;
  }
  std::vector<float> normals;
  for (const Vector3& sum : sums)
    // corners of no triangle have any
    for (const double x : sum.isZero(0.0) ? Vector3(Vector3::UnitZ()) : Vector3(sum.stableNormalized()))
      normals.push_back(static_cast<float>(x));
  return normals;
}

class Exporter {
 public:
  explicit Exporter(const Recording& recording) : recording_(recording) {}

  std::string run() {
    // glTF has y up
    const Pose turn =
        Pose::rotation(Eigen::Quaterniond::FromTwoVectors(recording_.up, Vector3::UnitY()).toRotationMatrix());
    const int root = document_.add(
        "nodes",
        {{"name", recording_.name}, {"rotation", numbers(turn.quaternion(), "up")}, {"children", Json::array()}});
    document_.add("scenes", {{"name", recording_.name}, {"nodes", {root}}});
    for (const std::string& body : recording_.bodies) {
      bodies_.push_back(document_.add("nodes", {{"name", body}}));
      document_.entry("nodes", root)["children"].push_back(bodies_.back());
    }
    if (recording_.bodies.empty()) document_.entry("nodes", root).erase("children");
    for (const RecordedShape& shape : recording_.shapes)
      if (shape.role != ShapeRole::collision) add_shape(shape);
    place_bodies();
    if (recording_.frames.size() > 1) animate();
    return document_.text();
  }

 private:
  /// Recorded colours are those of screens (sRGB); factors of glTF are linear.
  static Vector4 linear_color(const Vector4& color) {
    Vector4 out = color;
    for (int i = 0; i < 3; ++i)
      out[i] = color[i] <= 0.04045 ? color[i] / 12.92 : std::pow((color[i] + 0.055) / 1.055, 2.4);
    return out;
  }

  int material_of(const Vector4& color) {
    const std::array<double, 4> key{color[0], color[1], color[2], color[3]};
    const auto found = materials_.find(key);
    if (found != materials_.end()) return found->second;
    Json material = {{"pbrMetallicRoughness",
                      {{"baseColorFactor", numbers(linear_color(color), "color")},
                       {"metallicFactor", 0.0},
                       {"roughnessFactor", 0.7}}},
                     {"doubleSided", true}};
    if (color[3] < 1.0) material["alphaMode"] = "BLEND";
    return materials_[key] = document_.add("materials", std::move(material));
  }

  Json primitive_of(const RecordedShape& shape, const TriangleMesh& mesh) {
    std::vector<float> positions;
    for (const Vector3& vertex : mesh.vertices)
      for (const double x : vertex) positions.push_back(single(x, shape.name));
    std::vector<std::uint32_t> corners;
    for (const auto& triangle : mesh.triangles)
      for (const int corner : triangle) corners.push_back(static_cast<std::uint32_t>(corner));
    Json attributes = {{"POSITION", document_.add_floats(positions, 3, "VEC3", true, kArrayBuffer)}};
    if (is_round(shape))
      attributes["NORMAL"] = document_.add_floats(vertex_normals(mesh), 3, "VEC3", false, kArrayBuffer);
    return {{"attributes", attributes}, {"indices", document_.add_indices(corners)}};
  }

  /// Equal shapes of one colour share a mesh.
  int mesh_index(const RecordedShape& shape, const TriangleMesh& drawn) {
    const std::string geometry = shape.mesh != nullptr
                                     ? std::to_string(reinterpret_cast<std::uintptr_t>(shape.mesh.get()))
                                     : shape_to_json(*shape.shape);
    const int material = material_of(shape.color);
    const auto [found, is_new] = meshes_.try_emplace({geometry, material}, 0);
    if (!is_new) return found->second;
    Json primitive = primitive_of(shape, drawn);
    primitive["material"] = material;
    return found->second = document_.add("meshes", {{"primitives", {primitive}}});
  }

  void add_shape(const RecordedShape& shape) {
    const TriangleMesh drawn = shape.mesh != nullptr
                                   ? *shape.mesh
                                   : mesh(*shape.shape, {.resolution = 48, .half_space_size = half_space_size_});
    if (drawn.triangles.empty()) return;
    const int node = document_.add("nodes", {{"name", shape.name},
                                             {"mesh", mesh_index(shape, drawn)},
                                             {"translation", numbers(shape.X_BS.p, shape.name)},
                                             {"rotation", numbers(shape.X_BS.quaternion(), shape.name)}});
    Json& body = document_.entry("nodes", bodies_[shape.body]);
    if (!body.contains("children")) body["children"] = Json::array();
    body["children"].push_back(node);
  }

  /// The side of the squares that stand for half-spaces: they reach under all that moves.
  [[nodiscard]] double half_space_size() const {
    double reach = 0.0;
    for (const RecordedFrame& frame : recording_.frames)
      for (const RecordedPose& pose : frame.poses)
        if (is_present(pose)) reach = std::max(reach, Vector3(pose[0], pose[1], pose[2]).norm());
    double largest = 0.0;
    for (const RecordedShape& shape : recording_.shapes) largest = std::max(largest, size_of(shape));
    // the square's middle may itself be as far from the world's origin
    return std::clamp(4.0 * (reach + largest), 10.0, 1e30);
  }

  /// Half-spaces inside bundles do not count.
  static double farthest_corner(const Aabb& box) {
    const double distance = box.lower.cwiseAbs().cwiseMax(box.upper.cwiseAbs()).norm();
    return std::isfinite(distance) ? distance : 0.0;
  }

  /// How far it goes from its body's origin; of a half-space, how far its plane is.
  static double size_of(const RecordedShape& shape) {
    double size = 0.0;
    if (shape.mesh != nullptr)
      for (const Vector3& vertex : shape.mesh->vertices) size = std::max(size, vertex.norm());
    else if (const HalfSpace* plane = shape.shape->get_if<HalfSpace>())
      size = std::abs(plane->offset);
    else
      size = farthest_corner(bounds(*shape.shape));
    return shape.X_BS.p.norm() + size;
  }

  /// Places the bodies as in the first frame.
  void place_bodies() {
    if (recording_.frames.empty()) return;
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const RecordedPose& pose = recording_.frames.front().poses[b];
      Json& node = document_.entry("nodes", bodies_[b]);
      if (!is_present(pose)) {
        node["scale"] = {0.0, 0.0, 0.0};
        continue;
      }
      node["translation"] = numbers(std::array{pose[0], pose[1], pose[2]}, recording_.bodies[b]);
      node["rotation"] = {pose[3], pose[4], pose[5], pose[6]};
    }
  }

  void animate() {
    animation_ = {{"name", recording_.name}, {"samplers", Json::array()}, {"channels", Json::array()}};
    for (std::size_t b = 0; b < bodies_.size(); ++b) animate_body(b);
    if (!animation_["channels"].empty()) document_.add("animations", std::move(animation_));
  }

  /// Later and later, as the standard wants it, where single precision would make two the same.
  int add_times() {
    std::vector<float> times;
    for (const RecordedFrame& frame : recording_.frames) {
      const float t = single(frame.t - recording_.frames.front().t, "t");
      const float least = times.empty() ? t : std::nextafter(times.back(), std::numeric_limits<float>::max());
      times.push_back(std::max(t, least));
    }
    return document_.add_floats(times, 1, "SCALAR", true, 0);
  }

  void animate_body(std::size_t b) {
    std::vector<float> positions;
    std::vector<float> rotations;
    std::vector<float> scales;
    RecordedPose last{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    bool moves = false;
    bool comes_and_goes = false;
    for (const RecordedFrame& frame : recording_.frames) {
      const RecordedPose& pose = frame.poses[b];
      moves = moves || pose != recording_.frames.front().poses[b];
      comes_and_goes = comes_and_goes || !is_present(pose);
      if (is_present(pose)) last = nearest_sign(pose, last);
      for (std::size_t k = 0; k < 3; ++k) positions.push_back(single(last[k], recording_.bodies[b]));
      for (std::size_t k = 3; k < 7; ++k) rotations.push_back(static_cast<float>(last[k]));
      scales.insert(scales.end(), 3, is_present(pose) ? 1.0F : 0.0F);
    }
    if (!moves && !comes_and_goes) return;
    add_channel(b, "translation", positions, 3, "VEC3", "LINEAR");
    add_channel(b, "rotation", rotations, 4, "VEC4", "LINEAR");
    if (comes_and_goes) add_channel(b, "scale", scales, 3, "VEC3", "STEP");
  }

  /// A quaternion and its negative are the same rotation: the one nearer to the last frame's, so that programs that
  /// interpolate do not go the long way round.
  static RecordedPose nearest_sign(RecordedPose pose, const RecordedPose& last) {
    double product = 0.0;
    for (std::size_t k = 3; k < 7; ++k) product += pose[k] * last[k];
    if (product < 0.0)
      for (std::size_t k = 3; k < 7; ++k) pose[k] = -pose[k];
    return pose;
  }

  void add_channel(std::size_t b, const char* path, const std::vector<float>& values, std::size_t width,
                   const char* type, const char* interpolation) {
    if (times_ < 0) times_ = add_times();
    const int output = document_.add_floats(values, width, type, false, 0);
    const auto sampler = animation_["samplers"].size();
    animation_["samplers"].push_back({{"input", times_}, {"interpolation", interpolation}, {"output", output}});
    animation_["channels"].push_back({{"sampler", sampler}, {"target", {{"node", bodies_[b]}, {"path", path}}}});
  }

  const Recording& recording_;
  Document document_;
  std::vector<int> bodies_;
  double half_space_size_ = half_space_size();
  std::map<std::array<double, 4>, int> materials_;
  /// By geometry and material.
  std::map<std::pair<std::string, int>, int> meshes_;
  Json animation_;
  int times_ = -1;
};

}  // namespace

std::string to_gltf(const Recording& recording) { return Exporter(recording).run(); }

}  // namespace tangere
