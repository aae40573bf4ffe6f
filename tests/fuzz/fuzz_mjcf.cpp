/// Any text is an MJCF robot or an InputError. What was read is written, and must be readable again.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tangere/io/robot/mjcf_reader.hpp"
#include "tangere/io/robot/mjcf_writer.hpp"
#include "tangere/math/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string written;
  int nv = 0;
  try {
    const tangere::Robot robot = tangere::mjcf_from_text(text, "/nowhere/fuzz.xml");
    nv = robot.model.nv();
    written = tangere::to_mjcf(robot);
  } catch (const tangere::InputError&) {
    return 0;
  }
  if (tangere::mjcf_from_text(written).model.nv() == nv) return 0;
  std::fputs("not the same coordinates when read again\n", stderr);
  std::abort();
}
