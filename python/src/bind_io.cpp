/// Recordings and the viewer's page.

#include "python/src/world.hpp"
#include "tangere/io/query_recording.hpp"
#include "tangere/io/recording.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/io/recording_reader.hpp"

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

}  // namespace

void bind_io(nb::module_& m) {
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
