#pragma once

/// Results of an experiment as they come, a line of JSON each, so that an interrupted run can go on where it was.

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace tangere::experiments {

class ResultLog {
 public:
  /// Keeps nothing in a file.
  ResultLog() = default;
  /// Results are added to `file`, which is made with the first of them; with `resume` those that are there count as
  /// found. Throws InputError, naming the file, if it cannot be read or written.
  ResultLog(const std::filesystem::path& file, bool resume);

  /// The result of this key, or that of `run`, which is then written.
  template <class Run>
  const nlohmann::json& result(const std::string& key, Run&& run) {
    const auto found = results_.find(key);
    return found != results_.end() ? found->second : add(key, run());
  }

 private:
  const nlohmann::json& add(const std::string& key, nlohmann::json result);

  std::map<std::string, nlohmann::json> results_;
  std::filesystem::path file_;
  bool append_ = false;
  std::ofstream out_;
};

}  // namespace tangere::experiments
