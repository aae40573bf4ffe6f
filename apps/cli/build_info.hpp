#pragma once

/// What this program was built with, and what is around it.

#include <string>
#include <utility>
#include <vector>

namespace tangere::cli {

/// Pairs of name and value, in the order to show.
using InfoList = std::vector<std::pair<std::string, std::string>>;

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
