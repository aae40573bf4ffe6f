#pragma once

/// The tools this program was built with, and the machine around it.

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace tangere::cli {

/// Pairs of name and value, in the order to show.
using InfoList = std::vector<std::pair<std::string, std::string>>;

/// `tangere 0.1.0`.
[[nodiscard]] std::string program_name();
/// The commit that was built, with `-dirty` if files differed from it; `unknown` outside a clone.
[[nodiscard]] std::string commit();
/// Both, for files of results.
[[nodiscard]] nlohmann::json made_by();
[[nodiscard]] std::string compiler();
[[nodiscard]] std::string build_type();
[[nodiscard]] bool native_flags();
/// Width of the vector registers the compiler was allowed to use, in bits.
[[nodiscard]] int vector_bits();
[[nodiscard]] bool asserts_alive();
[[nodiscard]] InfoList libraries();

struct Tool {
  std::string name;
  std::string used_for;
  /// Empty: not found.
  std::string path;
};
/// Programs on the PATH that the project can use but does not need.
[[nodiscard]] std::vector<Tool> optional_tools();

}  // namespace tangere::cli
