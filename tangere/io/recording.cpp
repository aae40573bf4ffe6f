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

#include <nlohmann/json.hpp>

#include "tangere/geometry/check.hpp"
#include "tangere/io/shape_json.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/kinematics.hpp"

namespace tangere {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json numbers(const Eigen::Ref<const VectorX>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(value);
  return list;
}

std::string shape_entry(int body, const std::string& name, const Shape& shape, const Pose& X_BS, const Vector4& color) {
  Json entry = {{"body", body}, {"name", name}};
  entry["shape"] = Json::parse(shape_to_json(shape));
  entry["position"] = numbers(X_BS.p);
  entry["quaternion"] = numbers(X_BS.quaternion());
  entry["color"] = numbers(color);
  return text_of(entry);
}

/// Of the visual with the shape's name, else of the one in its place, else of the last.
Vector4 color_of(const BodySpec& body, std::size_t index) {
  for (const VisualShape& visual : body.visuals)
    if (!visual.name.empty() && visual.name == body.shapes[index].name) return visual.color;
  if (body.visuals.empty()) return {0.7, 0.7, 0.7, 1.0};
  return body.visuals[std::min(index, body.visuals.size() - 1)].color;
}

/// What collides; of bodies that do not collide what is drawn.
std::vector<std::string> shape_entries(const Model& model) {
  std::vector<std::string> entries;
  for (int b = 0; b < model.num_bodies(); ++b) {
    const BodySpec& body = model.body(b).spec;
    for (std::size_t i = 0; i < body.shapes.size(); ++i)
      entries.push_back(
          shape_entry(b, body.shapes[i].name, body.shapes[i].shape, body.shapes[i].X_BS, color_of(body, i)));
    if (!body.shapes.empty()) continue;
    for (const VisualShape& visual : body.visuals)
      if (const Shape* shape = std::get_if<Shape>(&visual.geometry))
        entries.push_back(shape_entry(b, visual.name, *shape, visual.X_BV, visual.color));
  }
  return entries;
}

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
    throw InputError("frames_per_second", "must be above 0, got " + detail::to_text(frames_per_second));
  const double steps = std::ceil(1.0 / (frames_per_second * time_step) - 1e-6);
  return static_cast<int>(std::clamp(steps, 1.0, static_cast<double>(std::numeric_limits<int>::max())));
}

}  // namespace

struct RecordingWriter::Memory {
  const World& world;
  Data data;
  std::filesystem::path file;
  std::filesystem::path partial;
  std::ofstream out;
  int steps_per_frame;
  int num_frames = 0;
  bool finished = false;
  // channels, one number a frame
  std::vector<double> energy;
  std::vector<std::size_t> num_contacts;

  [[noreturn]] void fail() const {
    const int code = errno;
    throw InputError(file.string(),
                     std::string("cannot be written: ") + (code != 0 ? std::strerror(code) : "output failed"));
  }
};

RecordingWriter::RecordingWriter(const World& world, const std::filesystem::path& file,
                                 const RecordingOptions& options) {
  const Model& model = world.model();
  const std::filesystem::path target = target_of(file);
  std::filesystem::path partial = target;
  partial += ".partial";
  memory_ =
      std::make_unique<Memory>(Memory{.world = world,
                                      .data = Data(model),
                                      .file = target,
                                      .partial = partial,
                                      .out = {},
                                      .steps_per_frame = stride(world.options().time_step, options.frames_per_second),
                                      .energy = {},
                                      .num_contacts = {}});
  errno = 0;
  memory_->out.open(partial, std::ios::binary | std::ios::trunc);
  if (!memory_->out) memory_->fail();

  std::ofstream& out = memory_->out;
  out << R"({"format": "tangere-recording", "version": 1, "name": )" << text_of(model.name())
      << ", \"time_step\": " << text_of(world.options().time_step) << ",\n\"shapes\": [";
  const char* separator = "\n ";
  for (const std::string& entry : shape_entries(model)) {
    out << separator << entry;
    separator = ",\n ";
  }
  Json names = Json::array();
  for (int b = 0; b < model.num_bodies(); ++b) names.push_back(model.body(b).spec.name);
  out << "],\n\"bodies\": " << text_of(names) << ",\n\"frames\": [";
}

RecordingWriter::~RecordingWriter() {
  if (memory_->finished) return;
  memory_->out.close();
  std::error_code ignored;
  std::filesystem::remove(memory_->partial, ignored);
}

void RecordingWriter::add(int step_number, const State& state, std::span<const Contact> contacts) {
  Memory& m = *memory_;
  if (m.finished || step_number % m.steps_per_frame != 0) return;
  const Model& model = m.world.model();
  forward_kinematics(model, m.data, state.q, state.v);
  Json frame = {{"t", step_number * m.world.options().time_step}};
  frame["poses"] = Json::array();
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Pose X_WB = body_pose(model, m.data, b);
    Eigen::Matrix<double, 7, 1> pose;
    pose << X_WB.p, X_WB.quaternion();
    frame["poses"].push_back(numbers(pose));
  }
  frame["contacts"] = Json::array();
  for (const Contact& contact : contacts) {
    const Vector3 impulse = contact.frame * contact.impulse;
    Json entry = {{"bodies", {contact.body_A, contact.body_B}}};
    entry["point"] = numbers(contact.point);
    entry["normal"] = numbers(contact.frame.col(0));
    entry["impulse"] = numbers(impulse);
    frame["contacts"].push_back(std::move(entry));
  }
  m.out << (m.num_frames == 0 ? "\n " : ",\n ") << text_of(frame);
  m.energy.push_back(kinetic_energy(model, m.data, state.v) + potential_energy(model, m.data, state.q));
  m.num_contacts.push_back(contacts.size());
  ++m.num_frames;
}

void RecordingWriter::finish() {
  Memory& m = *memory_;
  if (m.finished) return;
  Json channels = {{"energy", m.energy}, {"num_contacts", m.num_contacts}};
  errno = 0;
  m.out << "],\n\"channels\": " << text_of(channels) << "}\n";
  m.out.close();
  if (!m.out) m.fail();
  std::error_code error;
  std::filesystem::rename(m.partial, m.file, error);
  if (error) throw InputError(m.file.string(), "cannot be written: " + error.message());
  m.finished = true;
}

int RecordingWriter::num_frames() const { return memory_->num_frames; }
int RecordingWriter::steps_per_frame() const { return memory_->steps_per_frame; }

}  // namespace tangere
