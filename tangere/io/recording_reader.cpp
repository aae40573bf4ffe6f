/// A recording in the layout of recording_text.hpp is read line by line: the header as one document, then a document a
/// frame. So memory holds the numbers and not a tree of the whole file, and a line that was cut off is the only thing
/// lost. A recording in any other layout (someone formatted it) is read as the one document that it is.

#include "tangere/io/recording_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <system_error>

#include "tangere/io/recording/recording_model.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/text/shape_reader.hpp"
#include "tangere/math/check.hpp"

namespace tangere {
namespace {

using internal::JsonDocument;
using internal::JsonValue;

constexpr int kMostEntries = 1 << 30;

int count(std::size_t size) { return static_cast<int>(std::min<std::size_t>(size, kMostEntries)); }

[[noreturn]] void refuse_size(const JsonValue& value, double number) {
  value.fail("must be within ±" + internal::to_text(kMostCoordinate) + ", got " + internal::to_text(number));
}

/// Numbers that say where or when something is.
VectorX read_coordinates(const JsonValue& value, int length = -1) {
  VectorX numbers = value.numbers(length);
  for (Eigen::Index i = 0; i < numbers.size(); ++i)
    if (!(std::abs(numbers[i]) <= kMostCoordinate)) refuse_size(value[i], numbers[i]);
  return numbers;
}

std::vector<double> read_coordinate_list(const JsonValue& value) {
  const VectorX numbers = read_coordinates(value);
  return {numbers.begin(), numbers.end()};
}

double read_time(const JsonValue& value) {
  const double t = value.number();
  if (!(std::abs(t) <= kMostCoordinate)) refuse_size(value, t);
  return t;
}

std::vector<double> read_numbers(const JsonValue& value) {
  const VectorX numbers = value.numbers();
  return {numbers.begin(), numbers.end()};
}

/// Null is NaN.
double read_number_or_null(const JsonValue& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.number();
}

Vector3 read_vector3(const JsonValue& value) { return value.numbers(3); }

Vector3 read_point(const JsonValue& value) { return read_coordinates(value, 3); }

Pose read_placement(const JsonValue& value) {
  if (const auto position = value.find("position")) (void)read_point(*position);
  return internal::read_pose(value);
}

RecordedPose read_body_pose(const JsonValue& value) {
  if (value.is_null()) return absent_pose();
  const VectorX numbers = value.numbers(7);
  const double length = numbers.tail<4>().stableNorm();
  if (!(std::abs(length - 1.0) <= 1e-6))
    value.fail("the quaternion (last four numbers) must have unit length, got length " + internal::to_text(length));
  for (Eigen::Index i = 0; i < 3; ++i)
    if (!(std::abs(numbers[i]) <= kMostCoordinate)) refuse_size(value[i], numbers[i]);
  RecordedPose pose;
  std::copy(numbers.begin(), numbers.end(), pose.begin());
  return pose;
}

std::vector<RecordedPose> read_poses(const JsonValue& value, std::size_t num_bodies) {
  if (value.size() != num_bodies)
    value.fail("must have one entry a body (" + std::to_string(num_bodies) + "), got " + std::to_string(value.size()));
  std::vector<RecordedPose> poses;
  poses.reserve(num_bodies);
  for (std::size_t b = 0; b < num_bodies; ++b) poses.push_back(read_body_pose(value[b]));
  return poses;
}

// header
// -----------------------------------------------------------------------------------------------------------------------------

template <class Entry>
auto read_list(const JsonValue& root, std::string_view name, Entry entry) {
  std::vector<decltype(entry(root))> list;
  const auto value = root.find(name);
  if (!value) return list;
  for (std::size_t i = 0; i < value->size(); ++i) list.push_back(entry((*value)[i]));
  return list;
}

std::shared_ptr<const TriangleMesh> read_mesh(const JsonValue& value) {
  auto mesh = std::make_shared<TriangleMesh>();
  const VectorX vertices = read_coordinates(value.at("vertices"));
  if (vertices.size() % 3 != 0) value.at("vertices").fail("must have three numbers a vertex");
  for (Eigen::Index i = 0; i < vertices.size(); i += 3) mesh->vertices.emplace_back(vertices.segment<3>(i));
  const JsonValue triangles = value.at("triangles");
  const VectorX corners = triangles.numbers();
  if (corners.size() % 3 != 0) triangles.fail("must have three numbers a triangle");
  const auto corner = [&](Eigen::Index i) {
    const double index = corners[i];
    if (!(index >= 0.0 && index < static_cast<double>(mesh->vertices.size())) || index != std::floor(index))
      triangles[i].fail("must be the index of a vertex, from 0 to " + std::to_string(mesh->vertices.size()) +
                        " excluded");
    return static_cast<int>(index);
  };
  for (Eigen::Index i = 0; i < corners.size(); i += 3)
    mesh->triangles.push_back({corner(i), corner(i + 1), corner(i + 2)});
  return mesh;
}

ShapeRole read_role(const JsonValue& value) {
  const auto role = value.find("role");
  if (!role) return ShapeRole::both;
  const std::string word = role->word({"collision", "visual", "both"});
  if (word == "both") return ShapeRole::both;
  return word == "collision" ? ShapeRole::collision : ShapeRole::visual;
}

Vector4 read_color(const JsonValue& value) {
  const VectorX color = value.numbers(4);
  if (color.minCoeff() < 0.0 || color.maxCoeff() > 1.0) value.fail("must be four numbers from 0 to 1");
  return color;
}

/// How far a shape that draws itself reaches from its own origin, or its plane is from it.
void check_size(const JsonValue& value, const Shape& shape) {
  const auto* plane = shape.get_if<HalfSpace>();
  const double size = plane != nullptr ? plane->offset / plane->normal.stableNorm() : shape.set().outer_radius;
  if (!(std::abs(size) <= kMostCoordinate))
    value.fail("must not reach further than " + internal::to_text(kMostCoordinate) + " m, got " +
               internal::to_text(size));
}

RecordedShape read_shape(const JsonValue& value, int num_bodies,
                         const std::vector<std::shared_ptr<const TriangleMesh>>& meshes) {
  RecordedShape entry;
  entry.body = value.at("body").integer(0, num_bodies - 1);
  if (const auto name = value.find("name")) entry.name = name->text();
  entry.role = read_role(value);
  const JsonValue shape = value.at("shape");
  if (shape.at("type").text() != "mesh") entry.shape = internal::read_shape(shape);
  if (const auto mesh = value.find("mesh")) {
    if (meshes.empty()) mesh->fail("there are no meshes");
    entry.mesh = meshes[mesh->integer(0, count(meshes.size()) - 1)];
  } else if (!entry.shape || !draws_itself(*entry.shape)) {
    value.fail("a shape of type '" + shape.at("type").text() + "' needs a mesh to be drawn");
  }
  if (entry.shape && entry.mesh == nullptr) check_size(shape, *entry.shape);
  entry.X_BS = read_placement(value);
  if (const auto color = value.find("color")) entry.color = read_color(*color);
  return entry;
}

/// An index into q, of which a link has seven numbers at most.
int read_index(const JsonValue& value, std::size_t num_links) {
  if (num_links == 0) value.fail("there are no links");
  return value.integer(0, count(7 * num_links) - 1);
}

RecordedLink read_link(const JsonValue& value, std::size_t index, std::size_t num_links) {
  RecordedLink link;
  link.kind = value.at("kind").word({"revolute", "prismatic", "screw", "ball", "free"});
  // parents come first, so there are no circles
  link.parent = value.at("parent").integer(-1, count(index) - 1);
  link.first_q = read_index(value.at("first_q"), num_links);
  if (const auto pitch = value.find("pitch")) link.pitch = pitch->number();
  link.X_PL = read_placement(value);
  return link;
}

RecordedCoordinate read_coordinate(const JsonValue& value, std::size_t num_links) {
  RecordedCoordinate coordinate;
  coordinate.name = value.at("name").text();
  coordinate.q = read_index(value.at("q"), num_links);
  if (const auto lower = value.find("lower")) coordinate.lower = lower->number();
  if (const auto upper = value.find("upper")) coordinate.upper = upper->number();
  if (const auto source = value.find("source")) {
    coordinate.source = source->integer(0, kMostEntries);
    coordinate.multiplier = value.at("multiplier").number();
    coordinate.offset = value.at("offset").number();
  }
  return coordinate;
}

RecordedGhost read_ghost(const JsonValue& value, std::size_t num_bodies) {
  RecordedGhost ghost;
  ghost.name = value.at("name").text();
  ghost.t = read_coordinate_list(value.at("t"));
  const JsonValue poses = value.at("poses");
  if (poses.size() != ghost.t.size() || ghost.t.empty()) poses.fail("must have one entry a time, and at least one");
  for (std::size_t i = 0; i < poses.size(); ++i) ghost.poses.push_back(read_poses(poses[i], num_bodies));
  return ghost;
}

/// A string, or a number as it is in the file.
std::string read_label(const JsonValue& value) {
  std::string text = value.identifier();
  return text.starts_with('"') ? value.text() : text;
}

/// Digits, or a number without fraction and exponent; to the last bit.
std::uint64_t read_seed(const JsonValue& value) {
  const std::string digits = read_label(value);
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size())
    value.fail("must be a whole number from 0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max()));
  return seed;
}

/// Values may be numbers too: they are only shown.
RecordingStamp read_stamp(const JsonValue& value) {
  RecordingStamp stamp;
  if (const auto program = value.find("program")) stamp.program = read_label(*program);
  if (const auto command = value.find("command")) stamp.command = read_label(*command);
  if (const auto seed = value.find("seed")) stamp.seed = read_seed(*seed);
  if (const auto options = value.find("options"))
    for (const std::string& key : options->keys()) stamp.options.emplace_back(key, read_label(options->at(key)));
  return stamp;
}

void read_tree(const JsonValue& root, Recording& recording) {
  const int num_bodies = count(recording.bodies.size());
  const auto links = root.find("links");
  const std::size_t num_links = links ? links->size() : 0;
  recording.links = read_list(root, "links", [index = std::size_t{0}, num_links](const JsonValue& value) mutable {
    return read_link(value, index++, num_links);
  });
  recording.attachments = read_list(root, "attachments", [&](const JsonValue& value) {
    return RecordedAttachment{value.at("link").integer(-1, count(num_links) - 1), read_placement(value)};
  });
  if (!recording.attachments.empty() && count(recording.attachments.size()) != num_bodies)
    root.at("attachments").fail("must have one entry a body (" + std::to_string(num_bodies) + ")");
  recording.coordinates =
      read_list(root, "coordinates", [&](const JsonValue& value) { return read_coordinate(value, num_links); });
  for (const RecordedCoordinate& coordinate : recording.coordinates)
    if (coordinate.source >= count(recording.coordinates.size()))
      root.at("coordinates").fail("'" + coordinate.name + "' follows a coordinate that does not exist");
}

Recording read_header(const JsonValue& root) {
  const auto format = root.find("format");
  if (!format || format->text() != "tangere-recording")
    throw InputError("format", "is not a recording: must be \"tangere-recording\"");
  if (root.at("version").number() != kRecordingVersion)
    root.at("version").fail("must be " + std::to_string(kRecordingVersion) + ": another program wrote it");
  Recording recording;
  if (const auto name = root.find("name")) recording.name = name->text();
  if (const auto time_step = root.find("time_step")) recording.time_step = time_step->number();
  if (const auto up = root.find("up")) {
    recording.up = read_vector3(*up);
    if (!(std::abs(recording.up.stableNorm() - 1.0) <= 1e-6)) up->fail("must have unit length");
  }
  if (const auto stamp = root.find("made_by")) recording.made_by = read_stamp(*stamp);
  (void)root.at("bodies");
  recording.bodies = read_list(root, "bodies", [](const JsonValue& value) { return value.text(); });
  const auto meshes = read_list(root, "meshes", read_mesh);
  recording.shapes = read_list(root, "shapes", [&](const JsonValue& value) {
    return read_shape(value, count(recording.bodies.size()), meshes);
  });
  read_tree(root, recording);
  recording.channels = read_list(root, "channels", [](const JsonValue& value) {
    const auto unit = value.find("unit");
    return RecordedChannel{value.at("name").text(), unit ? unit->text() : ""};
  });
  recording.ghosts =
      read_list(root, "ghosts", [&](const JsonValue& value) { return read_ghost(value, recording.bodies.size()); });
  return recording;
}

// frames
// -----------------------------------------------------------------------------------------------------------------------------

std::pair<int, int> read_bodies(const JsonValue& value, int num_bodies) {
  const JsonValue bodies = value.at("bodies");
  if (bodies.size() != 2) bodies.fail("must be two bodies");
  return {bodies[0].integer(0, num_bodies - 1), bodies[1].integer(0, num_bodies - 1)};
}

RecordedContact read_contact(const JsonValue& value, int num_bodies) {
  RecordedContact contact;
  std::tie(contact.body_A, contact.body_B) = read_bodies(value, num_bodies);
  if (const auto type = value.find("type")) contact.type = type->text();
  contact.point = read_point(value.at("point"));
  contact.normal = read_vector3(value.at("normal"));
  contact.impulse = read_vector3(value.at("impulse"));
  if (const auto distance = value.find("distance")) contact.distance = distance->number();
  return contact;
}

RecordedPair read_pair(const JsonValue& value, int num_bodies) {
  RecordedPair pair;
  std::tie(pair.body_A, pair.body_B) = read_bodies(value, num_bodies);
  if (const auto alpha = value.find("alpha")) {
    pair.alpha = alpha->number();
    if (pair.alpha < 0.0) alpha->fail("must not be negative");
    pair.point = read_point(value.at("point"));
  }
  pair.witness_A = read_point(value.at("witness_a"));
  pair.witness_B = read_point(value.at("witness_b"));
  pair.normal = read_vector3(value.at("normal"));
  return pair;
}

void add_frame(const JsonValue& value, Recording& recording) {
  const int num_bodies = count(recording.bodies.size());
  RecordedFrame frame;
  frame.t = read_time(value.at("t"));
  if (!recording.frames.empty() && !(frame.t > recording.frames.back().t))
    value.at("t").fail("must be later than the frame before it (" + internal::to_text(recording.frames.back().t) +
                       " s)");
  frame.poses = read_poses(value.at("poses"), recording.bodies.size());
  if (const auto q = value.find("q")) frame.q = read_coordinate_list(*q);
  if (const auto v = value.find("v")) frame.v = read_numbers(*v);
  frame.contacts =
      read_list(value, "contacts", [&](const JsonValue& contact) { return read_contact(contact, num_bodies); });
  frame.pairs = read_list(value, "pairs", [&](const JsonValue& pair) { return read_pair(pair, num_bodies); });
  frame.values = read_list(value, "values", read_number_or_null);
  if (frame.values.size() != recording.channels.size())
    value.fail("must have one value a channel (" + std::to_string(recording.channels.size()) + "), got " +
               std::to_string(frame.values.size()));
  recording.frames.push_back(std::move(frame));
}

/// Numbers of coordinates that the tree needs are there, or none.
void check_coordinates(const Recording& recording) {
  int needed = 0;
  for (const RecordedLink& link : recording.links) {
    const int own = link.kind == "free" ? 7 : link.kind == "ball" ? 4 : 1;
    needed = std::max(needed, link.first_q + own);
  }
  for (const RecordedCoordinate& coordinate : recording.coordinates) needed = std::max(needed, coordinate.q + 1);
  for (std::size_t i = 0; i < recording.frames.size(); ++i) {
    const std::vector<double>& q = recording.frames[i].q;
    if (!q.empty() && count(q.size()) < needed)
      throw InputError("frames[" + std::to_string(i) + "].q",
                       "must have " + std::to_string(needed) + " numbers, got " + std::to_string(q.size()));
  }
}

/// A document that is a part of the text: errors of its syntax with the line.
JsonDocument parse_part(std::string_view text, const std::string& place) {
  try {
    return JsonDocument(text);
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  }
}

bool is_json(std::string_view text) {
  try {
    const JsonDocument document(text);
    return true;
  } catch (const internal::JsonSyntaxError&) {
    return false;
  } catch (const InputError&) {
    // wrong in another way: whoever reads it says how
    return true;
  }
}

/// Whether what comes after the frames says that the run came to its end: `],` and a document whose brace is the
/// header's, or just `]}`.
bool is_end(std::string_view line, std::string_view rest) {
  const std::string end = "{" + std::string(rest);
  if (line != "]," || !is_json(end)) return line.starts_with("]}");
  const JsonDocument document(end);
  const auto complete = document.root().find("complete");
  return !complete || complete->boolean();
}

Recording read_lines(std::string_view text, std::size_t header_end) {
  const JsonDocument header = parse_part(std::string(text.substr(0, header_end)) + "\"frames\": []}", "header");
  Recording recording = read_header(header.root());
  recording.complete = false;
  std::string_view rest = text.substr(header_end + kFramesLine.size());
  while (!rest.empty()) {
    const std::size_t line_end = rest.find('\n');
    const bool last = line_end == std::string_view::npos;
    std::string_view line = rest.substr(0, line_end);
    rest = last ? std::string_view() : rest.substr(line_end + 1);
    if (line.empty()) continue;
    if (line.starts_with("]")) {
      recording.complete = is_end(line, rest);
      break;
    }
    if (line.ends_with(",")) line.remove_suffix(1);
    // cut off while it was written: only the last line can be
    if (last && !is_json(line)) break;
    const std::string place = "frames[" + std::to_string(recording.frames.size()) + "]";
    const JsonDocument frame = parse_part(line, place);
    add_frame(frame.root(place), recording);
  }
  return recording;
}

/// Without the line that begins our frames: someone formatted it, or it was cut off before it.
JsonDocument parse_whole(std::string_view text) {
  try {
    return JsonDocument(text);
  } catch (const internal::JsonSyntaxError& error) {
    if (!looks_like_recording(text)) throw;
    throw InputError("header", "the file was cut off before its first frame, or is not JSON: " + error.reason());
  }
}

Recording read_document(std::string_view text) {
  const JsonDocument document = parse_whole(text);
  if (text.substr(text.find_first_not_of(" \t\r\n")).front() != '{')
    throw InputError("format", "is not a recording: must be an object");
  const JsonValue root = document.root();
  Recording recording = read_header(root);
  const JsonValue frames = root.at("frames");
  for (std::size_t i = 0; i < frames.size(); ++i) add_frame(frames[i], recording);
  if (const auto complete = root.find("complete")) recording.complete = complete->boolean();
  return recording;
}

}  // namespace

Recording recording_from_text(std::string_view text, const std::filesystem::path& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  try {
    std::size_t header_end = text.find("\n" + std::string(kFramesLine));
    Recording recording = header_end == std::string_view::npos ? read_document(text) : read_lines(text, header_end + 1);
    check_coordinates(recording);
    return recording;
  } catch (const InputError& error) {
    throw InputError(file.string(), error.what());
  }
}

Recording load_recording(const std::filesystem::path& file) {
  return recording_from_text(read_whole_file(file, kMaxRecordingSize), file);
}

bool declares_format(std::string_view text, std::string_view format) {
  const std::string quoted = '"' + std::string(format) + '"';
  constexpr std::string_view kKey = "\"format\"";
  constexpr const char* kBlanks = " \t\r\n";
  for (std::size_t at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    std::string_view before = text.substr(0, at);
    before = before.substr(0, before.find_last_not_of(kBlanks) + 1);
    if (!before.ends_with(':')) continue;
    before.remove_suffix(1);
    before = before.substr(0, before.find_last_not_of(kBlanks) + 1);
    if (before.ends_with(kKey)) return true;
  }
  return false;
}

bool looks_like_recording(std::string_view text) { return declares_format(text, "tangere-recording"); }

std::string read_whole_file(const std::filesystem::path& file, std::size_t limit) {
  std::error_code failure;
  if (std::filesystem::is_directory(file, failure)) throw InputError(file.string(), "is a folder");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw InputError(file.string(),
                     std::string("cannot be read: ") + (errno != 0 ? std::strerror(errno) : "open failed"));
  std::string text;
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()) || stream.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limit) throw InputError(file.string(), "is larger than " + std::to_string(limit) + " bytes");
  }
  return text;
}

}  // namespace tangere
