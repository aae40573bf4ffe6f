#include "tangere/io/query_recording.hpp"

#include <limits>
#include <string>

#include "tangere/io/query.hpp"
#include "tangere/io/recording/recording_model.hpp"
#include "tangere/io/text/shape_reader.hpp"
#include "tangere/version.hpp"

namespace tangere {
namespace {

using internal::JsonDocument;
using internal::JsonValue;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double number_or_nan(const JsonValue& answer, std::string_view field) {
  const auto value = answer.find(field);
  return value && !value->is_null() ? value->number() : kNaN;
}

/// A body a shape.
struct Side {
  std::string name;
  Pose X_W;
};

Side add_side(Recording& recording, const JsonValue& value, const std::string& name, const Vector4& color) {
  const Shape shape = internal::read_shape(value.at("shape"));
  const int body = static_cast<int>(recording.bodies.size());
  add_shape(recording, {.body = body, .name = name, .color = color}, shape);
  recording.bodies.push_back(name + " (" + std::string(shape.type_name()) + ")");
  return {name, internal::read_pose(value)};
}

/// Adds the bodies of a query and its frame, in which the bodies of earlier queries are absent. (Those of later ones
/// are appended at the end.)
void add_query(Recording& recording, std::string_view line, std::size_t number, ScalingWorkspace& workspace) {
  const QueryAnswer answer = answer_query_line(line, number, workspace);
  const JsonDocument answer_document(answer.json);
  const JsonValue result = answer_document.root();
  if (!answer.ok) {
    const JsonValue error = result.at("error");
    const auto field = error.find("field");
    throw InputError("line " + std::to_string(number) + (field ? ": " + field->text() : std::string()),
                     error.at("message").text());
  }
  const JsonDocument query_document(line);
  const JsonValue query = query_document.root();
  const int body_A = static_cast<int>(recording.bodies.size());
  const std::string prefix = std::to_string(number);
  const Side a = add_side(recording, query.at("a"), prefix + " a", {0.20, 0.45, 0.86, 1.0});
  const Side b = add_side(recording, query.at("b"), prefix + " b", {0.96, 0.60, 0.16, 1.0});

  RecordedFrame frame;
  frame.t = static_cast<double>(recording.frames.size());
  frame.poses.assign(static_cast<std::size_t>(body_A), absent_pose());
  frame.poses.push_back(recorded_pose(a.X_W));
  frame.poses.push_back(recorded_pose(b.X_W));
  frame.values = {number_or_nan(result, "alpha"), number_or_nan(result, "distance"), number_or_nan(result, "phi")};
  // crossing cores have no witness points
  if (!result.at("witness_a").is_null() && !result.at("witness_b").is_null() && !result.at("normal").is_null()) {
    RecordedPair pair{.body_A = body_A, .body_B = body_A + 1};
    pair.witness_A = result.at("witness_a").numbers(3);
    pair.witness_B = result.at("witness_b").numbers(3);
    pair.normal = result.at("normal").numbers(3);
    pair.alpha = frame.values[0];
    if (result.has("alpha")) pair.point = result.at("point").numbers(3);
    frame.pairs.push_back(pair);
  }
  recording.frames.push_back(std::move(frame));
}

}  // namespace

Recording record_queries(std::string_view lines, const std::filesystem::path& file) {
  Recording recording;
  recording.name = file.stem().string();
  recording.made_by.program = "tangere " + std::string(kVersion);
  recording.channels = {{"alpha", ""}, {"distance", "m"}, {"phi", ""}};
  ScalingWorkspace workspace;
  try {
    for (std::size_t number = 1; !lines.empty(); ++number) {
      const std::size_t end = lines.find('\n');
      const std::string_view line = lines.substr(0, end);
      lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) add_query(recording, line, number, workspace);
    }
  } catch (const InputError& error) {
    throw InputError(file.string(), error.what());
  }
  if (recording.frames.empty()) throw InputError(file.string(), "has no queries");
  for (RecordedFrame& frame : recording.frames) frame.poses.resize(recording.bodies.size(), absent_pose());
  return recording;
}

}  // namespace tangere
