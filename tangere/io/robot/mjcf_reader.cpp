#include "tangere/io/robot/mjcf_reader.hpp"

#include <algorithm>

#include "tangere/io/robot/internal/mjcf_parts.hpp"

namespace tangere {
namespace {

using internal::XmlElement;

/// The time step where <option> gives none [s].
constexpr double kMjcfTimeStep = 0.002;

Robot read_mjcf(internal::XmlDocument document, const std::filesystem::path& file, const LoadOptions& options,
                internal::ContactBits contact_bits = internal::ContactBits::settled) {
  const XmlElement root = document.root();
  if (root.name() != "mujoco") root.fail("must be <mujoco>");
  internal::MjcfReader reader{{std::move(document), file}, options, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  const std::string name = root.find_text("model").value_or(file.stem().string());
  const std::vector<XmlElement> sections = reader.files.children(root);
  const auto each = [&](std::string_view kind, const auto& f) {
    for (const XmlElement& section : sections)
      if (section.name() == kind) f(section);
  };

  // settings and defaults first, whatever the order in the file
  each("compiler", [&](const XmlElement& section) { reader.settings.read(section); });
  each("default", [&](const XmlElement& section) { reader.defaults.read(section, reader.files); });
  each("asset", [&](const XmlElement& section) { read_assets(reader, section); });
  each("worldbody", [&](const XmlElement& section) { read_world(reader, section); });
  if (reader.bodies.empty()) {
    if (options.strict) root.fail("needs an element <worldbody>");
    reader.report(root, "has no <worldbody>: there is nothing in it", NoticeRank::unused);
    add_world(reader, root);
  }
  settle_inertias(reader);

  // the model, then what refers to it
  Model model = build_model(reader, sections, name, contact_bits);
  const std::vector<std::optional<Actuator>> actuators = read_actuators(reader, sections, model);
  std::vector<Keyframe> keyframes = read_keyframes(reader, sections, model, actuators);
  Robot robot{std::move(model), {}, std::move(keyframes), {}, kMjcfTimeStep};
  each("option", [&](const XmlElement& section) {
    if (const std::optional<double> step = section.find_number("timestep")) {
      if (!(*step > 0.0)) section.fail("timestep", "must be positive");
      robot.time_step = step;
    }
  });
  for (const std::optional<Actuator>& actuator : actuators)
    if (actuator) robot.actuators.push_back(*actuator);

  // what was not understood
  for (const XmlElement& section : sections) {
    static constexpr std::string_view kRead[] = {"compiler", "option",   "default",  "asset",   "worldbody",
                                                 "contact",  "equality", "actuator", "keyframe"};
    if (std::find(std::begin(kRead), std::end(kRead), section.name()) == std::end(kRead)) section.mark_unused();
  }
  reader.defaults.use_known();
  robot.notices = std::move(reader.notices);
  const std::vector<Notice> unused = reader.files.unused();
  robot.notices.insert(robot.notices.end(), unused.begin(), unused.end());
  internal::settle_notices(robot.notices, options);
  return robot;
}

}  // namespace

Robot load_mjcf(const std::filesystem::path& file, const LoadOptions& options) {
  return read_mjcf(internal::XmlDocument::load(file), file, options);
}

Robot internal::load_unsettled_mjcf(const std::filesystem::path& file, const LoadOptions& options) {
  return read_mjcf(XmlDocument::load(file), file, options, ContactBits::as_given);
}

Robot mjcf_from_text(std::string_view text, const std::filesystem::path& file, const LoadOptions& options) {
  return read_mjcf(internal::XmlDocument::parse(text, file.string()), file, options);
}

}  // namespace tangere
