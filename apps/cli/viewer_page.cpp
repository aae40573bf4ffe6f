#include "apps/cli/viewer_page.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "apps/cli/folders.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

/// More than any page we build.
constexpr std::size_t kMostPage = std::size_t{16} << 20;

}  // namespace

std::string viewer_page() {
  const std::filesystem::path installed = installed_folder() / "viewer.html";
  for (const std::filesystem::path& place : {installed, std::filesystem::path(TANGERE_CLI_VIEWER)}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(place, ignored)) return read_whole_file(place, kMostPage);
  }
  throw InputError("viewer",
                   "this command was built without it: install nodejs (18 or newer) and npm, then build again "
                   "(make build); looked for " TANGERE_CLI_VIEWER);
}

void write_whole_file(const std::filesystem::path& file, std::string_view text) {
  std::error_code failure;
  if (std::filesystem::is_directory(file, failure))
    throw InputError(file.string(), "cannot be written: it is a folder");
  // not a file (a terminal, a pipe): there is nothing to keep whole
  const bool direct = std::filesystem::exists(file, failure) && !std::filesystem::is_regular_file(file, failure);
  // through links, not in their place; under a name that nobody else gives
  const std::filesystem::path real =
      std::filesystem::is_symlink(file, failure) ? std::filesystem::weakly_canonical(file, failure) : file;
  std::filesystem::path target = real;
  if (!direct) target += "." + std::to_string(getpid()) + ".tmp";
  const auto fail = [&] {
    const std::string reason = errno != 0 ? std::strerror(errno) : "output failed";
    // half of a file is of no use to anybody
    if (!direct) std::filesystem::remove(target, failure);
    throw InputError(file.string(), "cannot be written: " + reason);
  };
  errno = 0;
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  if (!out) fail();
  out << text;
  out.close();
  if (!out) fail();
  if (direct) return;
  std::filesystem::rename(target, real, failure);
  if (failure) throw InputError(file.string(), "cannot be written: " + failure.message());
}

void write_recording_page(const std::filesystem::path& file, std::string_view recording) {
  write_whole_file(file, recording_page(viewer_page(), recording));
}

void RecordingText::on_header(std::string_view header) { text_ = header; }

void RecordingText::on_frame(std::string_view frame) {
  if (!first_) text_ += kBetweenFrames;
  text_ += frame;
  first_ = false;
}

void RecordingText::on_finish() { text_ += kRecordingEnd; }

}  // namespace tangere::cli
