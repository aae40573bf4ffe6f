#include "apps/cli/line_reader.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "apps/cli/commands.hpp"

namespace tangere::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Lines of a file, numbered from 1; no line break (LF or CRLF), no byte order mark.
class LineReader {
 public:
  explicit LineReader(std::FILE* file) : file_(file) {}

  /// False at the end.
  bool next() {
    line_.clear();
    too_long_ = false;
    int character = std::getc(file_);
    if (character == EOF) return false;
    ++number_;
    for (; character != EOF && character != '\n'; character = std::getc(file_)) {
      // a line over the limit is read to its end, not kept
      too_long_ = too_long_ || line_.size() >= kMaxQueryLine;
      if (!too_long_) line_.push_back(static_cast<char>(character));
    }
    return true;
  }

  [[nodiscard]] std::string_view line() const {
    std::string_view view = line_;
    if (number_ == 1 && view.starts_with("\xEF\xBB\xBF")) view.remove_prefix(3);
    while (!view.empty() && std::string_view(" \t\r").find(view.back()) != std::string_view::npos)
      view.remove_suffix(1);
    return view;
  }
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] bool too_long() const { return too_long_; }

 private:
  std::FILE* file_;
  std::string line_;
  std::size_t number_ = 0;
  bool too_long_ = false;
};

/// Answers go out at once unless they go to a file.
bool is_regular_file(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

bool write_line(const std::string& line, bool flush) {
  return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fputc('\n', stdout) != EOF &&
         (!flush || std::fflush(stdout) == 0);
}

int cannot_read(const char* command, const std::string& name) {
  std::fprintf(stderr, "tangere %s: cannot read %s: %s\n", command, name.c_str(), std::strerror(errno));
  return kExitBadInput;
}

}  // namespace

int answer_lines(const char* command, const std::string& name, const AnswerLine& answer) {
  const bool standard_input = name == "-";
  const File file(standard_input ? stdin : std::fopen(name.c_str(), "rb"));
  if (!file) return cannot_read(command, name);

  const bool flush = !is_regular_file(STDOUT_FILENO);
  LineReader reader(file.get());
  bool all_good = true;
  while (reader.next()) {
    if (!reader.too_long() && reader.line().empty()) continue;
    const QueryAnswer answered =
        reader.too_long() ? answer_long_query_line(reader.number()) : answer(reader.line(), reader.number());
    all_good = all_good && answered.ok;
    // main says why (output.hpp)
    if (!write_line(answered.json, flush)) return kExitOk;
  }
  // a folder opens but does not read
  if (std::ferror(file.get()) != 0) return cannot_read(command, name);
  return all_good ? kExitOk : kExitBadInput;
}

}  // namespace tangere::cli
