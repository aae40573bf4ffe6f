#pragma once

/// The viewer's page, and pages with a recording inside.

#include <filesystem>
#include <string>
#include <string_view>

#include "tangere/io/recording.hpp"

namespace tangere::cli {

/// The page as it was built: beside the installed command (../share/tangere), or in the build folder. Throws InputError
/// that says what to install if it is not there.
[[nodiscard]] std::string viewer_page();

/// Writes a file, whole or not at all. Throws InputError naming it.
void write_whole_file(const std::filesystem::path& file, std::string_view text);

/// The viewer with this recording, as one file.
void write_recording_page(const std::filesystem::path& file, std::string_view recording);

/// Keeps the text of a recording that is being made.
class RecordingText : public RecordingListener {
 public:
  void on_header(std::string_view header) override;
  void on_frame(std::string_view frame) override;
  void on_finish() override;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool first_ = true;
};

}  // namespace tangere::cli
