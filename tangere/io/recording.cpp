#include "tangere/io/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "tangere/io/recording/recording_model.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/version.hpp"

namespace tangere {
namespace {

/// The file a name stands for, through links.
std::filesystem::path target_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return file;
  if (!std::filesystem::is_regular_file(file, ignored))
    throw InputError(file.string(), std::filesystem::is_directory(file, ignored) ? "cannot be written: it is a folder"
                                                                                 : "is not a regular file");
  const std::filesystem::path whole = std::filesystem::canonical(file, ignored);
  return ignored ? file : whole;
}

/// Every so many steps is a frame.
int stride(double time_step, double frames_per_second) {
  if (!(frames_per_second > 0.0 && std::isfinite(frames_per_second)))
    throw InputError("frames_per_second", "must be above 0, got " + internal::to_text(frames_per_second));
  const double steps = std::ceil(1.0 / (frames_per_second * time_step) - 1e-6);
  return static_cast<int>(std::clamp(steps, 1.0, static_cast<double>(std::numeric_limits<int>::max())));
}

RecordingStamp stamp_of(const World& world, RecordingStamp stamp) {
  if (stamp.program.empty()) stamp.program = "tangere " + std::string(kVersion);
  const WorldOptions& options = world.options();
  const auto add = [&](const char* name, const std::string& value) { stamp.options.emplace_back(name, value); };
  add("formulation", std::string(to_string(options.formulation)));
  if (options.formulation != Formulation::lcp) add("kappa", internal::to_text(options.smooth.kappa));
  add("integrator", options.integrator == Integrator::semi_implicit ? "semi_implicit" : "explicit_position");
  add("bounce", options.hard.bounce == BounceMode::event ? "event" : "discrete");
  add("margin", internal::to_text(options.hard.margin));
  add("compliance", internal::to_text(options.contact.compliance));
  add("correction", internal::to_text(options.contact.correction));
  return stamp;
}

/// Channels that every recording of a world has, in the order of `standard_values`.
std::vector<RecordedChannel> standard_channels() {
  return {
      {"energy", "J"}, {"kinetic_energy", "J"}, {"potential_energy", "J"}, {"num_contacts", ""}, {"impulse", "N s"}};
}

/// `impulse`: the sum of the normal ones.
std::vector<double> standard_values(const Model& model, const Data& data, const State& state,
                                    std::span<const Contact> contacts) {
  const double kinetic = kinetic_energy(model, data, state.v);
  const double potential = potential_energy(model, data, state.q);
  double impulse = 0.0;
  for (const Contact& contact : contacts) impulse += contact.impulse[0];
  return {kinetic + potential, kinetic, potential, static_cast<double>(contacts.size()), impulse};
}

}  // namespace

struct RecordingWriter::Memory {
  const World& world;
  Data data;
  /// Empty: no file.
  std::filesystem::path file;
  std::filesystem::path partial;
  std::ofstream out;
  RecordingListener* listener;
  bool with_state;
  std::size_t num_values;
  int steps_per_frame;
  /// The header, written with the first frame.
  Recording description;
  bool begun = false;
  int num_frames = 0;
  bool finished = false;

  [[noreturn]] void fail() const {
    const int code = errno;
    throw InputError(file.string(),
                     std::string("cannot be written: ") + (code != 0 ? std::strerror(code) : "output failed"));
  }

  void begin() {
    if (begun) return;
    begun = true;
    const std::string header = recording_header(description);
    if (out.is_open()) out << header << std::flush;
    if (listener != nullptr) listener->on_header(header);
  }
};

RecordingWriter::RecordingWriter(const World& world, const std::filesystem::path& file,
                                 const RecordingOptions& options) {
  const int steps_per_frame = stride(world.options().time_step, options.frames_per_second);
  const std::filesystem::path target = file.empty() ? file : target_of(file);
  std::filesystem::path partial = target;
  if (!file.empty()) partial += ".partial";
  memory_ = std::make_unique<Memory>(Memory{.world = world,
                                            .data = Data(world.model()),
                                            .file = target,
                                            .partial = partial,
                                            .out = {},
                                            .listener = options.listener,
                                            .with_state = options.state,
                                            .num_values = options.channels.size(),
                                            .steps_per_frame = steps_per_frame,
                                            .description = describe_model(world.model())});
  Recording& description = memory_->description;
  description.time_step = world.options().time_step;
  description.made_by = stamp_of(world, options.made_by);
  description.channels = standard_channels();
  description.channels.insert(description.channels.end(), options.channels.begin(), options.channels.end());
  if (file.empty()) return;
  errno = 0;
  memory_->out.open(partial, std::ios::binary | std::ios::trunc);
  if (!memory_->out) memory_->fail();
}

RecordingWriter::~RecordingWriter() {
  if (memory_->finished || memory_->file.empty()) return;
  memory_->out.close();
  if (memory_->num_frames > 0) return;
  // there is nothing in it to look at
  std::error_code ignored;
  std::filesystem::remove(memory_->partial, ignored);
}

void RecordingWriter::add_ghost(const std::string& name, std::span<const double> times,
                                std::span<const VectorX> configurations) {
  Memory& m = *memory_;
  if (m.begun) throw InputError("ghost " + name, "must be added before the first frame");
  if (times.size() != configurations.size() || times.empty())
    throw InputError("ghost " + name, "needs as many configurations as times, and at least one");
  RecordedGhost ghost{.name = name, .t = {times.begin(), times.end()}, .poses = {}};
  for (const VectorX& q : configurations) ghost.poses.push_back(poses_at(m.world.model(), m.data, q));
  m.description.ghosts.push_back(std::move(ghost));
}

void RecordingWriter::add(int step_number, const State& state, std::span<const Contact> contacts,
                          std::span<const double> values) {
  Memory& m = *memory_;
  if (values.size() != m.num_values)
    throw InputError("values",
                     "needs " + std::to_string(m.num_values) + " numbers, got " + std::to_string(values.size()));
  if (m.finished || step_number % m.steps_per_frame != 0) return;
  const Model& model = m.world.model();
  RecordedFrame frame;
  frame.t = step_number * m.world.options().time_step;
  frame.poses = poses_at(model, m.data, state.q);
  if (m.with_state) {
    frame.q.assign(state.q.begin(), state.q.end());
    frame.v.assign(state.v.begin(), state.v.end());
  }
  for (const Contact& contact : contacts) frame.contacts.push_back(recorded_contact(contact));
  forward_kinematics(model, m.data, state.q, state.v);
  frame.values = standard_values(model, m.data, state, contacts);
  frame.values.insert(frame.values.end(), values.begin(), values.end());

  errno = 0;
  m.begin();
  const std::string line = recording_frame(frame);
  if (m.out.is_open()) {
    if (m.num_frames > 0) m.out << kBetweenFrames;
    // out of our hands at once: a crash must not take it along
    m.out << line << std::flush;
    if (!m.out) m.fail();
  }
  if (m.listener != nullptr) m.listener->on_frame(line);
  ++m.num_frames;
}

void RecordingWriter::finish() {
  Memory& m = *memory_;
  if (m.finished) return;
  m.begin();
  if (m.out.is_open()) {
    errno = 0;
    m.out << kRecordingEnd;
    m.out.close();
    if (!m.out) m.fail();
    std::error_code error;
    std::filesystem::rename(m.partial, m.file, error);
    if (error) throw InputError(m.file.string(), "cannot be written: " + error.message());
  }
  m.finished = true;
  if (m.listener != nullptr) m.listener->on_finish();
}

int RecordingWriter::num_frames() const { return memory_->num_frames; }
int RecordingWriter::steps_per_frame() const { return memory_->steps_per_frame; }
const std::filesystem::path& RecordingWriter::partial_file() const { return memory_->partial; }

}  // namespace tangere
