#include "apps/cli/distinct_files.hpp"

#include <filesystem>
#include <system_error>

#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

namespace fs = std::filesystem;

/// A file that can be overwritten, or will be made.
bool can_be_lost(const std::string& file) {
  std::error_code ignored;
  return !file.empty() && (!fs::exists(file, ignored) || fs::is_regular_file(file, ignored));
}

bool is_same(const std::string& one, const std::string& other) {
  std::error_code error;
  // hard links have paths of their own
  if (fs::equivalent(one, other, error) && !error) return true;
  const fs::path first = fs::weakly_canonical(fs::absolute(one, error), error);
  if (error) return false;
  const fs::path second = fs::weakly_canonical(fs::absolute(other, error), error);
  return !error && first == second;
}

void require_other(const NamedFile& output, const NamedFile& other, const char* what) {
  if (can_be_lost(output.file) && can_be_lost(other.file) && is_same(output.file, other.file))
    throw InputError(output.name, "'" + output.file + "' is the file of " + other.name + ", which would be " + what);
}

}  // namespace

void require_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedFile& input : inputs) require_other(outputs[i], input, "lost");
    for (std::size_t k = 0; k < i; ++k) require_other(outputs[i], outputs[k], "overwritten");
  }
}

}  // namespace tangere::cli
