#include "tangere/io/robot_file.hpp"

#include <algorithm>
#include <tuple>

#include "tangere/io/robot/mjcf_reader.hpp"
#include "tangere/io/robot/urdf_reader.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/io/text/xml_file.hpp"

namespace tangere {

std::string_view to_string(NoticeRank rank) {
  switch (rank) {
    case NoticeRank::motion:
      return "changes the motion";
    case NoticeRank::collision:
      return "changes collision";
    case NoticeRank::look:
      return "changes the look";
    case NoticeRank::unused:
      return "not used";
  }
  return "";
}

std::string to_string(const Notice& notice) {
  std::string text = notice.file;
  if (notice.line > 0) text += ":" + std::to_string(notice.line);
  for (const std::string* part : {&notice.element, &notice.text})
    if (!part->empty()) text += (text.empty() ? "" : ": ") + *part;
  return printable(text);
}

namespace {

bool is_mjcf(const std::filesystem::path& file) {
  const internal::XmlElement root = internal::XmlDocument::load(file).root();
  if (root.name() != "robot" && root.name() != "mujoco") root.fail("must be <robot> (URDF) or <mujoco> (MJCF)");
  return root.name() == "mujoco";
}

}  // namespace

Robot load_robot(const std::filesystem::path& file, const LoadOptions& options) {
  return is_mjcf(file) ? load_mjcf(file, options) : load_urdf(file, options);
}

Robot internal::load_unsettled_robot(const std::filesystem::path& file, const LoadOptions& options) {
  return is_mjcf(file) ? load_unsettled_mjcf(file, options) : load_urdf(file, options);
}

void internal::settle_notices(std::vector<Notice>& notices, const LoadOptions& options) {
  std::stable_sort(notices.begin(), notices.end(), [](const Notice& a, const Notice& b) {
    return std::tie(a.rank, a.file, a.line) < std::tie(b.rank, b.file, b.line);
  });
  if (!options.strict || notices.empty()) return;
  const Notice& first = notices.front();
  const std::string count =
      notices.size() == 1 ? "the only notice" : std::to_string(notices.size()) + " notices in all";
  throw InputError(first.file + ":" + std::to_string(first.line) + ": " + first.element,
                   first.text + " (strict; " + count + ")");
}

}  // namespace tangere
