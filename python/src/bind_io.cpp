/// Recordings and the viewer's page.

#include "python/src/world.hpp"
#include "tangere/io/query.hpp"
#include "tangere/io/query_recording.hpp"
#include "tangere/io/recording.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_export.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/io/robot/mjcf_writer.hpp"
#include "tangere/io/robot/urdf_writer.hpp"
#include "tangere/io/shape_json.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

/// Collects the text of a recording.
class TextListener : public RecordingListener {
 public:
  void on_header(std::string_view header) override { text_ = header; }
  void on_frame(std::string_view frame) override {
    if (has_frames_) text_ += kBetweenFrames;
    text_ += frame;
    has_frames_ = true;
  }
  void on_finish() override { text_ += kRecordingEnd; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool has_frames_ = false;
};

/// The recording of a trajectory, contacts found anew where they are asked for.
std::string record_states(const SharedWorld& s, const std::vector<WorldState>& states, bool contacts,
                          double frames_per_second) {
  TextListener listener;
  RecordingOptions options{.frames_per_second = frames_per_second};
  options.listener = &listener;
  options.made_by.program = "tangere (Python)";
  RecordingWriter writer(*s.world, {}, options);
  const auto memory = s.lend();
  const VectorX u = VectorX::Zero(s.world->nu());
  for (std::size_t i = 0; i < states.size(); ++i) {
    require_state(*s.world, states[i]);
    std::span<const Contact> found;
    if (contacts) {
      memory->workspace.restore(states[i].warm);
      found = step(*s.world, states[i].value, u, memory->workspace, memory->next).contacts;
    }
    writer.add(static_cast<int>(i), states[i].value, found);
  }
  writer.finish();
  return listener.text();
}

/// (frames, 7) of a body; NaN where it is not there.
Array recorded_poses(const Recording& r, long body) {
  const int at = checked_index(body, static_cast<int>(r.bodies.size()), "body");
  double* to = nullptr;
  Array out = empty_array({r.frames.size(), 7}, to);
  for (const RecordedFrame& frame : r.frames) to = std::copy_n(frame.poses[at].data(), 7, to);
  return out;
}

void bind_recordings(nb::module_& m) {
  nb::class_<Recording>(m, "Recording", "A run that was recorded (docs/simulate.md). From `load_recording`.")
      .def_ro("bodies", &Recording::bodies, "Their names.")
      .def_ro("complete", &Recording::complete, "False: the run did not come to its end.")
      .def("__len__", [](const Recording& r) { return r.frames.size(); })
      .def_prop_ro(
          "times",
          [](const Recording& r) {
            VectorX out(static_cast<Eigen::Index>(r.frames.size()));
            for (std::size_t i = 0; i < r.frames.size(); ++i) out[static_cast<Eigen::Index>(i)] = r.frames[i].t;
            return to_array(out);
          },
          "Seconds, (frames,).")
      .def("poses", recorded_poses, "body"_a,
           "Position and quaternion x y z w of a body (its index), (frames, 7); NaN where it is not there.")
      .def(
          "to_csv", [](const Recording& r) { return to_csv(r); }, "A table with a line a frame.")
      .def(
          "to_gltf", [](const Recording& r) { return to_gltf(r); }, "glTF 2.0 with everything inside.")
      .def("__repr__", [](const Recording& r) {
        return "Recording(bodies=" + std::to_string(r.bodies.size()) + ", frames=" + std::to_string(r.frames.size()) +
               ")";
      });
  m.def(
      "load_recording", [](const std::filesystem::path& file) { return load_recording(file); }, "file"_a,
      "A recording from a file, also one that was cut off.");
  m.def(
      "recording_from_text",
      [](std::string_view text, const std::filesystem::path& file) { return recording_from_text(text, file); },
      "text"_a, "file"_a = "recording.json", "The same from its text; `file` is for errors.");
}

void bind_texts(nb::module_& m) {
  m.def(
      "shape_from_json", [](std::string_view text) { return shape_from_json(text); }, "text"_a,
      "A shape from JSON (docs/query.md).");
  m.def(
      "shape_to_json", [](const Shape& shape) { return shape_to_json(shape); }, "shape"_a, "The same backwards.");
  m.def(
      "to_mjcf", [](const Robot& robot) { return to_mjcf(robot); }, "robot"_a,
      "MJCF that gives the same robot when it is read again.");
  m.def(
      "to_urdf", [](const Robot& robot) { return to_urdf(robot); }, "robot"_a,
      "URDF that gives the same robot when it is read again.");
  m.def(
      "save_urdf", [](const Robot& robot, const std::filesystem::path& file) { save_urdf(robot, file); }, "robot"_a,
      "file"_a, "The same into a file, with meshes beside it.");
  m.def(
      "answer_query_line",
      [](std::string_view line) {
        thread_local ScalingWorkspace workspace;
        return answer_query_line(line, 1, workspace).json;
      },
      "line"_a, "The answer of `tangere query` to one line of JSON (docs/query.md), errors too.");
}

}  // namespace

void bind_io(nb::module_& m) {
  bind_recordings(m);
  bind_texts(m);
  m.def("recording", record_states, "world"_a, "states"_a, nb::kw_only(), "contacts"_a = true,
        "frames_per_second"_a = 60.0,
        "The text of a recording (JSON, docs/simulate.md) of states one time step apart, for `tangere view`.");
  m.def(
      "recording_page", [](std::string_view page, std::string_view text) { return recording_page(page, text); },
      "page"_a, "recording"_a, "The viewer's page with a recording inside: one file that plays in any browser.");
  m.def(
      "query_recording",
      [](std::string_view lines, const std::string& name) { return recording_text(record_queries(lines, name)); },
      "lines"_a, "name"_a = "pairs", "The recording of pair queries given as JSON lines (docs/query.md).");
}

}  // namespace tangere::python
