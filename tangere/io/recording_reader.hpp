#pragma once

/// Reads recordings (docs/simulate.md has the schema), also those whose run did not come to its end.

#include <filesystem>
#include <string>
#include <string_view>

#include "tangere/io/recording/recording_data.hpp"

namespace tangere {

/// Coordinates, lengths (m), times (s) and q beyond this are refused: single precision, in which pages and other
/// programs draw, has no room for what is much larger.
inline constexpr double kMostCoordinate = 1e9;

/// Larger files are refused (bytes).
inline constexpr std::size_t kMaxRecordingSize = std::size_t{2} << 30;

/// Throws InputError with the file and the place (`run.json: frames[3].poses[1]: …`) for what is wrong. A recording
/// that was cut off gives the frames that are whole, and `complete` is false.
[[nodiscard]] Recording load_recording(const std::filesystem::path& file);
/// The same for a text; `file` is for errors.
[[nodiscard]] Recording recording_from_text(std::string_view text, const std::filesystem::path& file);

/// Whether a JSON text says `"format": "<format>"` somewhere, in whatever order its fields are.
[[nodiscard]] bool declares_format(std::string_view text, std::string_view format);
/// Whether a text claims to be a recording, whatever else is wrong with it.
[[nodiscard]] bool looks_like_recording(std::string_view text);

/// The text of a file. Throws InputError naming it if it cannot be read or is larger than `limit`.
[[nodiscard]] std::string read_whole_file(const std::filesystem::path& file, std::size_t limit);

}  // namespace tangere
