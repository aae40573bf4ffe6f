#include "apps/cli/view_source.hpp"

#include <algorithm>

#include "apps/cli/text.hpp"
#include "tangere/io/query_recording.hpp"
#include "tangere/io/recording/recording_model.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/version.hpp"

namespace tangere::cli {
namespace {

ViewSource from_scene(const std::string& file, const LoadOptions& options) {
  const Scene scene = load_scene(file, options);
  const Model& model = scene.robot.model;
  ViewSource source;
  source.recording = describe_model(model);
  source.recording.time_step = 0.0;
  source.recording.made_by = {.program = "tangere " + std::string(kVersion), .command = "view " + file};
  Data data(model);
  RecordedFrame frame;
  frame.poses = poses_at(model, data, scene.q);
  frame.q.assign(scene.q.begin(), scene.q.end());
  frame.v.assign(scene.v.begin(), scene.v.end());
  source.recording.frames.push_back(std::move(frame));
  if (!scene.robot.notices.empty())
    source.notes.push_back(
        formatted("%zu notices; `tangere inspect %s` shows them", scene.robot.notices.size(), file.c_str()));
  return source;
}

ViewSource from_recording(std::string text, const std::string& file) {
  ViewSource source{.recording = recording_from_text(text, file), .notes = {}};
  source.text = std::move(text);
  const Recording& recording = source.recording;
  if (recording.frames.empty()) throw InputError(file, "has no frames");
  if (!recording.complete)
    source.notes.push_back(
        formatted("the run that wrote it did not come to its end: %zu frames are there", recording.frames.size()));
  return source;
}

/// That is not blank.
std::string_view first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\xEF\xBB\xBF"), text.size()));
  return text.substr(0, text.find('\n'));
}

bool is_xml(std::string_view text) { return first_line(text).starts_with('<'); }

}  // namespace

ViewSource load_view_source(const std::string& file, const LoadOptions& options) {
  std::string text = read_whole_file(file, kMaxRecordingSize);
  if (looks_like_recording(text)) return from_recording(std::move(text), file);
  if (is_xml(text) || declares_format(text, "tangere-scene")) return from_scene(file, options);
  if (first_line(text).find("\"shape\"") != std::string_view::npos)
    return {.recording = record_queries(text, file), .notes = {}};
  throw InputError(file, "is not a recording, a scene, a robot (URDF, MJCF) or a file of queries");
}

void add_ghost(Recording& recording, const Recording& other, const std::string& name) {
  if (other.bodies != recording.bodies)
    throw InputError(name, "has other bodies, it cannot be a ghost of this recording");
  RecordedGhost ghost{.name = name, .t = {}, .poses = {}};
  for (const RecordedFrame& frame : other.frames) {
    ghost.t.push_back(frame.t);
    ghost.poses.push_back(frame.poses);
  }
  recording.ghosts.push_back(std::move(ghost));
}

}  // namespace tangere::cli
