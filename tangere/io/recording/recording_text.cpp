#include "tangere/io/recording/recording_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include "tangere/io/shape_json.hpp"

namespace tangere {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// NaN and infinity become null.
template <class Numbers>
Json numbers(const Numbers& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(value);
  return list;
}

Json pose_entry(const RecordedPose& pose) { return is_present(pose) ? numbers(pose) : Json(nullptr); }

void add_pose(Json& entry, const Pose& X) {
  entry["position"] = numbers(X.p);
  entry["quaternion"] = numbers(X.quaternion());
}

const char* to_text(ShapeRole role) {
  switch (role) {
    case ShapeRole::collision:
      return "collision";
    case ShapeRole::visual:
      return "visual";
    case ShapeRole::both:
      break;
  }
  return "both";
}

/// Drawing needs no more than single precision: eight digits, flat lists.
std::string mesh_entry(const TriangleMesh& mesh) {
  std::string text = R"({"vertices": [)";
  std::array<char, 96> buffer;
  const char* separator = "";
  for (const Vector3& vertex : mesh.vertices) {
    std::snprintf(buffer.data(), buffer.size(), "%s%.8g,%.8g,%.8g", separator, vertex[0], vertex[1], vertex[2]);
    text += buffer.data();
    separator = ",";
  }
  text += R"(], "triangles": [)";
  separator = "";
  for (const auto& [a, b, c] : mesh.triangles) {
    std::snprintf(buffer.data(), buffer.size(), "%s%d,%d,%d", separator, a, b, c);
    text += buffer.data();
    separator = ",";
  }
  return text + "]}";
}

/// Meshes are written once, however many shapes they draw.
class MeshTable {
 public:
  explicit MeshTable(const std::vector<RecordedShape>& shapes) {
    for (const RecordedShape& shape : shapes)
      if (shape.mesh != nullptr && index_.emplace(shape.mesh.get(), static_cast<int>(index_.size())).second)
        meshes_.push_back(shape.mesh.get());
  }
  [[nodiscard]] int index(const TriangleMesh* mesh) const { return index_.at(mesh); }
  [[nodiscard]] const std::vector<const TriangleMesh*>& meshes() const { return meshes_; }

 private:
  std::map<const TriangleMesh*, int> index_;
  std::vector<const TriangleMesh*> meshes_;
};

std::string shape_entry(const RecordedShape& shape, const MeshTable& meshes) {
  Json entry = {{"body", shape.body}, {"name", shape.name}, {"role", to_text(shape.role)}};
  entry["shape"] = shape.shape ? Json::parse(shape_to_json(*shape.shape)) : Json{{"type", "mesh"}};
  if (shape.mesh != nullptr) entry["mesh"] = meshes.index(shape.mesh.get());
  add_pose(entry, shape.X_BS);
  entry["color"] = numbers(shape.color);
  return text_of(entry);
}

std::string link_entry(const RecordedLink& link) {
  Json entry = {{"kind", link.kind}, {"parent", link.parent}, {"first_q", link.first_q}};
  if (link.pitch != 0.0) entry["pitch"] = link.pitch;
  add_pose(entry, link.X_PL);
  return text_of(entry);
}

std::string attachment_entry(const RecordedAttachment& attachment) {
  Json entry = {{"link", attachment.link}};
  add_pose(entry, attachment.X_LB);
  return text_of(entry);
}

std::string coordinate_entry(const RecordedCoordinate& coordinate) {
  Json entry = {{"name", coordinate.name}, {"q", coordinate.q}};
  if (std::isfinite(coordinate.lower)) entry["lower"] = coordinate.lower;
  if (std::isfinite(coordinate.upper)) entry["upper"] = coordinate.upper;
  if (coordinate.source >= 0) {
    entry["source"] = coordinate.source;
    entry["multiplier"] = coordinate.multiplier;
    entry["offset"] = coordinate.offset;
  }
  return text_of(entry);
}

std::string ghost_entry(const RecordedGhost& ghost) {
  Json entry = {{"name", ghost.name}, {"t", numbers(ghost.t)}, {"poses", Json::array()}};
  for (const auto& frame : ghost.poses) {
    Json poses = Json::array();
    for (const RecordedPose& pose : frame) poses.push_back(pose_entry(pose));
    entry["poses"].push_back(std::move(poses));
  }
  return text_of(entry);
}

Json stamp_entry(const RecordingStamp& stamp) {
  Json entry = {{"program", stamp.program}};
  if (!stamp.command.empty()) entry["command"] = stamp.command;
  // as text: programs that keep numbers as doubles would show another one
  if (stamp.seed) entry["seed"] = std::to_string(*stamp.seed);
  entry["options"] = Json::object();
  // what the caller gave comes first, and is exact
  for (const auto& [name, value] : stamp.options) entry["options"].emplace(name, value);
  return entry;
}

/// `"name": [` and an entry a line; nothing for an empty list.
template <class List, class Entry>
std::string list_text(const char* name, const List& list, Entry entry) {
  if (list.empty()) return "";
  std::string text = std::string("\"") + name + "\": [";
  const char* separator = "\n ";
  for (const auto& item : list) {
    text += separator + entry(item);
    separator = ",\n ";
  }
  return text + "],\n";
}

Json contact_entry(const RecordedContact& contact) {
  Json entry = {{"bodies", {contact.body_A, contact.body_B}}};
  if (!contact.type.empty()) entry["type"] = contact.type;
  entry["point"] = numbers(contact.point);
  entry["normal"] = numbers(contact.normal);
  entry["impulse"] = numbers(contact.impulse);
  if (std::isfinite(contact.distance)) entry["distance"] = contact.distance;
  return entry;
}

Json pair_entry(const RecordedPair& pair) {
  Json entry = {{"bodies", {pair.body_A, pair.body_B}}};
  if (std::isfinite(pair.alpha)) {
    entry["alpha"] = pair.alpha;
    entry["point"] = numbers(pair.point);
  }
  entry["witness_a"] = numbers(pair.witness_A);
  entry["witness_b"] = numbers(pair.witness_B);
  entry["normal"] = numbers(pair.normal);
  return entry;
}

}  // namespace

RecordedPose recorded_pose(const Pose& X) {
  const Vector4 q = X.quaternion();
  return {X.p[0], X.p[1], X.p[2], q[0], q[1], q[2], q[3]};
}

RecordedPose absent_pose() {
  RecordedPose pose;
  pose.fill(std::numeric_limits<double>::quiet_NaN());
  return pose;
}

bool is_present(const RecordedPose& pose) {
  return std::all_of(pose.begin(), pose.end(), [](double value) { return std::isfinite(value); });
}

Pose pose_of(const RecordedPose& pose) {
  return Pose::from_quaternion({pose[0], pose[1], pose[2]}, pose[3], pose[4], pose[5], pose[6]);
}

std::string recording_header(const Recording& recording) {
  const MeshTable meshes(recording.shapes);
  std::string text = R"({"format": "tangere-recording", "version": )" + std::to_string(kRecordingVersion) +
                     ", \"name\": " + text_of(recording.name) + ", \"time_step\": " + text_of(recording.time_step) +
                     ", \"up\": " + text_of(numbers(recording.up)) +
                     ",\n\"made_by\": " + text_of(stamp_entry(recording.made_by)) +
                     ",\n\"bodies\": " + text_of(Json(recording.bodies)) + ",\n";
  text += list_text("meshes", meshes.meshes(), [](const TriangleMesh* mesh) { return mesh_entry(*mesh); });
  text += list_text("shapes", recording.shapes, [&](const RecordedShape& shape) { return shape_entry(shape, meshes); });
  text += list_text("links", recording.links, link_entry);
  text += list_text("attachments", recording.attachments, attachment_entry);
  text += list_text("coordinates", recording.coordinates, coordinate_entry);
  Json channels = Json::array();
  for (const RecordedChannel& channel : recording.channels)
    channels.push_back({{"name", channel.name}, {"unit", channel.unit}});
  text += "\"channels\": " + text_of(channels) + ",\n";
  text += list_text("ghosts", recording.ghosts, ghost_entry);
  return text + std::string(kFramesLine);
}

std::string recording_frame(const RecordedFrame& frame) {
  Json entry = {{"t", frame.t}, {"poses", Json::array()}};
  for (const RecordedPose& pose : frame.poses) entry["poses"].push_back(pose_entry(pose));
  if (!frame.q.empty()) entry["q"] = frame.q;
  if (!frame.v.empty()) entry["v"] = frame.v;
  entry["contacts"] = Json::array();
  for (const RecordedContact& contact : frame.contacts) entry["contacts"].push_back(contact_entry(contact));
  if (!frame.pairs.empty()) {
    entry["pairs"] = Json::array();
    for (const RecordedPair& pair : frame.pairs) entry["pairs"].push_back(pair_entry(pair));
  }
  entry["values"] = numbers(frame.values);
  return text_of(entry);
}

std::string recording_text(const Recording& recording) {
  std::string text = recording_header(recording);
  bool first = true;
  for (const RecordedFrame& frame : recording.frames) {
    if (!first) text += kBetweenFrames;
    text += recording_frame(frame);
    first = false;
  }
  if (recording.complete) text += kRecordingEnd;
  return text;
}

}  // namespace tangere
