#include "apps/cli/controls.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apps/cli/text.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file, "cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void require_count(const std::string& place, std::size_t count, int nu) {
  if (static_cast<int>(count) != nu) throw InputError(place, formatted("needs %d numbers, has %zu", nu, count));
}

Controls from_json(const std::string& file, int nu) {
  const nlohmann::json list = nlohmann::json::parse(text_of(file), nullptr, false);
  if (!list.is_array()) throw InputError(file, "must be a JSON list of lists of numbers");
  Controls controls;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = formatted("%s[%zu]", file.c_str(), i);
    if (!list[i].is_array()) throw InputError(place, "must be a list of numbers");
    require_count(place, list[i].size(), nu);
    VectorX u(nu);
    for (int k = 0; k < nu; ++k) {
      if (!list[i][k].is_number()) throw InputError(place, "must be numbers");
      u[k] = list[i][k].get<double>();
    }
    controls.push_back(u);
  }
  return controls;
}

/// The numbers of a line; empty if one of its words is none.
std::vector<double> numbers_of(std::string_view line) {
  std::vector<double> numbers;
  for (;;) {
    const std::size_t end = std::min(line.find(','), line.size());
    const std::optional<double> number = internal::parse_number(line.substr(0, end));
    if (!number) return {};
    numbers.push_back(*number);
    if (end == line.size()) return numbers;
    line.remove_prefix(end + 1);
  }
}

Controls from_table(const std::string& file, int nu) {
  Controls controls;
  std::istringstream lines(text_of(file));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string_view words = internal::trimmed(line);
    if (words.empty()) continue;
    const std::vector<double> numbers = numbers_of(words);
    const std::string place = formatted("%s:%d", file.c_str(), number);
    if (numbers.empty() && number == 1) continue;  // names
    if (numbers.empty()) throw InputError(place, "must be finite numbers with commas between");
    require_count(place, numbers.size(), nu);
    controls.emplace_back(Eigen::Map<const Eigen::VectorXd>(numbers.data(), nu));
  }
  return controls;
}

}  // namespace

Controls load_controls(const std::string& file, int nu) {
  Controls controls = std::filesystem::path(file).extension() == ".json" ? from_json(file, nu) : from_table(file, nu);
  if (controls.empty()) throw InputError(file, "has no controls");
  return controls;
}

VectorX holding_control(const World& world, const VectorX& q) {
  VectorX u = VectorX::Zero(world.nu());
  for (int i = 0; i < static_cast<int>(world.actuators().size()); ++i) {
    const Actuator& actuator = world.actuators()[i];
    if (actuator.kind != Actuator::Kind::position || actuator.gain == 0.0) continue;
    for (const Joint& joint : world.model().joints())
      if (actuator.dof >= joint.first_v && actuator.dof < joint.first_v + joint.nv)
        u[i] = actuator.gear * q[joint.first_q + actuator.dof - joint.first_v];
  }
  return u;
}

}  // namespace tangere::cli
