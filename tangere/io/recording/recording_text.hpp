#pragma once

/// Recordings as text: a header, one line a frame, an end. All three together are one JSON document; without the end,
/// or cut off inside a frame, what is there can still be read (recording_reader.hpp), which is why a crash costs no
/// more than the frame that was being written.

#include <string>
#include <string_view>

#include "tangere/io/recording/recording_data.hpp"

namespace tangere {

/// The line that ends the header. No other line of a JSON document can be equal to it but by being the same field.
inline constexpr std::string_view kFramesLine = "\"frames\": [\n";

/// Everything but the frames, up to and with `kFramesLine`.
[[nodiscard]] std::string recording_header(const Recording& recording);
/// One line without its break.
[[nodiscard]] std::string recording_frame(const RecordedFrame& frame);
/// Between two frames, and after the last one.
inline constexpr std::string_view kBetweenFrames = ",\n";
inline constexpr std::string_view kRecordingEnd = "\n],\n\"complete\": true}\n";

/// The whole document; without its end if the recording is not complete.
[[nodiscard]] std::string recording_text(const Recording& recording);

}  // namespace tangere
