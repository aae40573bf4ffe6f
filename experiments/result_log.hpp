#pragma once

/// Results of an experiment as they come, one line of JSON each, so that an interrupted run can go on where it was:
///
///   {"key": "start 3", "made_by": {"program": "tangere 0.1.0", "commit": "0123abc"}, "result": {…}}
///
/// The file is locked while a run works on it: a second one is refused.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tangere::experiments {

/// What becomes of results that are in the file already.
enum class OldResults {
  /// InputError if there are any.
  refuse,
  /// They count as found.
  resume,
  /// They go, with the first new result.
  overwrite,
};

class ResultLog {
 public:
  /// Keeps nothing in a file.
  ResultLog() = default;
  /// Results are added to `file`, which is made with the first of them, each with `made_by`. Throws InputError, naming
  /// the file, if it cannot be read or written, and if another process is at work on it.
  ResultLog(const std::filesystem::path& file, OldResults old, nlohmann::json made_by);
  ~ResultLog();
  ResultLog(const ResultLog&) = delete;
  ResultLog& operator=(const ResultLog&) = delete;

  /// The result of this key, or that of `run`, which is then written.
  template <class Run>
  const nlohmann::json& result(const std::string& key, Run&& run) {
    const auto found = results_.find(key);
    return found != results_.end() ? found->second : add(key, run());
  }

  /// Programs that made the results that count as found, other than this one.
  [[nodiscard]] const std::set<nlohmann::json>& other_makers() const { return other_makers_; }
  /// What was mended in the file, in words.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

 private:
  const nlohmann::json& add(const std::string& key, nlohmann::json result);
  void open_locked(bool create);
  [[nodiscard]] std::string read_all() const;
  void write_all(std::string_view text) const;
  void cut_to(std::size_t size) const;
  void read_line(const std::string& line, int number);
  void read_results(OldResults old);

  std::map<std::string, nlohmann::json> results_;
  std::set<nlohmann::json> other_makers_;
  std::vector<std::string> notices_;
  std::filesystem::path file_;
  nlohmann::json made_by_;
  /// -1: there is no file yet.
  int descriptor_ = -1;
  bool overwrite_ = false;
};

}  // namespace tangere::experiments
