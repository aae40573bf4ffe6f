#include "tangere/io/robot_file.hpp"

#include "tangere/io/mjcf_reader.hpp"
#include "tangere/io/xml_file.hpp"

namespace tangere {

std::string to_string(const Notice& notice) {
  std::string text = notice.file;
  if (notice.line > 0) text += ":" + std::to_string(notice.line);
  for (const std::string* part : {&notice.element, &notice.text})
    if (!part->empty()) text += (text.empty() ? "" : ": ") + *part;
  return text;
}

Robot load_robot(const std::filesystem::path& file, const LoadOptions& options) {
  const detail::XmlDocument document = detail::XmlDocument::load(file);
  if (document.root().name() == "mujoco") return load_mjcf(file, options);
  document.root().fail("must be <robot> (URDF) or <mujoco> (MJCF)");
}

}  // namespace tangere
