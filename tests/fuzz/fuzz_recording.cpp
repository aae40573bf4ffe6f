/// Any text is a recording or an InputError; what was read can be exported, and is the same when written and read
/// again.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_export.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/math/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const tangere::Recording recording = tangere::recording_from_text(text, "fuzz.json");
    const tangere::Recording again = tangere::recording_from_text(tangere::recording_text(recording), "again.json");
    if (again.frames.size() != recording.frames.size() || again.complete != recording.complete ||
        tangere::to_csv(again) != tangere::to_csv(recording)) {
      std::fputs("not the same when read again\n", stderr);
      std::abort();
    }
    (void)tangere::to_gltf(recording);
  } catch (const tangere::InputError&) {
    // as it should be
  }
  return 0;
}
