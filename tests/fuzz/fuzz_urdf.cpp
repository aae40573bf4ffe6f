/// Any text is a URDF robot or an InputError. What was read and can be written must be readable again.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tangere/io/robot/urdf_reader.hpp"
#include "tangere/io/robot/urdf_writer.hpp"
#include "tangere/math/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const tangere::LoadOptions options{.base = tangere::Base::free};
  std::string written;
  int nv = 0;
  try {
    const tangere::Robot robot = tangere::urdf_from_text(text, "/nowhere/fuzz.urdf", options);
    nv = robot.model.nv();
    written = tangere::to_urdf(robot);
  } catch (const tangere::InputError&) {
    return 0;
  }
  if (tangere::urdf_from_text(written, "/nowhere/again.urdf", options).model.nv() == nv) return 0;
  std::fputs("not the same coordinates when read again\n", stderr);
  std::abort();
}
