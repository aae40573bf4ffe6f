#include "experiments/result_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tangere/math/error.hpp"

namespace tangere::experiments {
namespace {

bool is_result(const nlohmann::json& record) {
  return record.is_object() && record.contains("key") && record["key"].is_string() && record.contains("result");
}

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw InputError(file.string(), what + ": " + std::strerror(errno));
}

}  // namespace

ResultLog::ResultLog(const std::filesystem::path& file, OldResults old, nlohmann::json made_by)
    : file_(file), made_by_(std::move(made_by)) {
  try {
    open_locked(false);
    if (descriptor_ >= 0) read_results(old);
  } catch (...) {
    if (descriptor_ >= 0) close(descriptor_);
    throw;
  }
}

ResultLog::~ResultLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

/// Without `create`, a file that is not there leaves the descriptor as it is. The lock ends with the descriptor.
void ResultLog::open_locked(bool create) {
  descriptor_ = open(file_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
  if (descriptor_ < 0 && !create && (errno == ENOENT || errno == ENOTDIR)) return;
  if (descriptor_ < 0) fail(file_, "cannot be opened");
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) fail(file_, "cannot be locked");
  throw InputError(file_.string(), "another process writes its results there: wait for it, or name another --output");
}

std::string ResultLog::read_all() const {
  std::string text;
  std::array<char, 1 << 16> block;
  ssize_t count = 0;
  while ((count = read(descriptor_, block.data(), block.size())) > 0)
    text.append(block.data(), static_cast<std::size_t>(count));
  if (count < 0) fail(file_, "cannot be read");
  return text;
}

void ResultLog::write_all(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t count = write(descriptor_, text.data(), text.size());
    if (count < 0) fail(file_, "cannot be written");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void ResultLog::cut_to(std::size_t size) const {
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) fail(file_, "cannot be written");
}

void ResultLog::read_line(const std::string& line, int number) {
  const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
  if (!is_result(record))
    throw InputError(file_.string() + ":" + std::to_string(number), "is no result of an experiment");
  results_[record["key"]] = record["result"];
  const nlohmann::json maker = record.value("made_by", nlohmann::json("unknown"));
  if (maker != made_by_) other_makers_.insert(maker);
}

/// A run that was killed, a full disk or a copy in between may leave a last line without its end: if it is a result it
/// gets its line break, else it goes, and that result is made again.
void ResultLog::read_results(OldResults old) {
  const std::string text = read_all();
  if (old == OldResults::overwrite) {
    overwrite_ = true;
    return;
  }
  int number = 1;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    read_line(text.substr(begin, end - begin), number++);
  const std::string torn = text.substr(begin);
  const bool is_whole = is_result(nlohmann::json::parse(torn, nullptr, false));
  if (is_whole) read_line(torn, number);
  if (old == OldResults::refuse && !results_.empty())
    throw InputError(file_.string(), "holds " + std::to_string(results_.size()) +
                                         " results of an earlier run: --resume goes on from them, --overwrite starts "
                                         "anew, --output names another folder");
  if (torn.empty()) return;
  const std::string place = file_.string() + ":" + std::to_string(number) + ": the last line has no end: ";
  if (is_whole) {
    write_all("\n");
    notices_.push_back(place + "it is a whole result and counts");
  } else {
    cut_to(begin);
    notices_.push_back(place + "dropped, that result is made again");
  }
}

const nlohmann::json& ResultLog::add(const std::string& key, nlohmann::json result) {
  if (!file_.empty()) {
    if (descriptor_ < 0) {
      std::error_code ignored;
      std::filesystem::create_directories(file_.parent_path(), ignored);
      open_locked(true);
      struct stat status {};
      if (fstat(descriptor_, &status) != 0) fail(file_, "cannot be read");
      if (status.st_size > 0)
        throw InputError(file_.string(), "another process has written its results there meanwhile");
    }
    if (std::exchange(overwrite_, false)) cut_to(0);
    write_all(nlohmann::json{{"key", key}, {"made_by", made_by_}, {"result", result}}.dump() + "\n");
  }
  return results_[key] = std::move(result);
}

}  // namespace tangere::experiments
