#include "experiments/result_log.hpp"

#include <algorithm>

#include "tangere/math/error.hpp"

namespace tangere::experiments {

ResultLog::ResultLog(const std::filesystem::path& file, bool resume) : file_(file), append_(resume) {
  std::uintmax_t whole = 0;
  if (resume && std::filesystem::exists(file)) {
    std::ifstream in(file);
    if (!in) throw InputError(file.string(), "cannot be read");
    int number = 0;
    for (std::string line; std::getline(in, line); ++number) {
      // an interrupted run may end within a line
      const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
      if (in.eof() && record.is_discarded()) break;
      if (!record.is_object() || !record.contains("key") || !record["key"].is_string() || !record.contains("result"))
        throw InputError(file.string() + ":" + std::to_string(number + 1), "is no result of an experiment");
      results_[record["key"]] = record["result"];
      whole += line.size() + 1;
    }
    in.close();
    std::filesystem::resize_file(file, std::min(whole, std::filesystem::file_size(file)));
  }
}

const nlohmann::json& ResultLog::add(const std::string& key, nlohmann::json result) {
  if (!file_.empty()) {
    if (!out_.is_open()) {
      std::error_code ignored;
      std::filesystem::create_directories(file_.parent_path(), ignored);
      out_.open(file_, append_ ? std::ios::app : std::ios::trunc);
    }
    out_ << nlohmann::json{{"key", key}, {"result", result}}.dump() << std::endl;
    if (!out_) throw InputError(file_.string(), "cannot be written");
  }
  return results_[key] = std::move(result);
}

}  // namespace tangere::experiments
