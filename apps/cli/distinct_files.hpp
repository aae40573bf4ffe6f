#pragma once

/// Files that are written must not be those that are read, nor each other.

#include <string>
#include <vector>

namespace tangere::cli {

struct NamedFile {
  /// Name of the argument.
  std::string name;
  /// Empty: there is none.
  std::string file;
};

/// Throws InputError, naming both arguments, if an output is an input or another output: by another path or through
/// links too. Terminals and pipes may be named twice.
void require_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace tangere::cli
