/// Any text is a scene or an InputError, and any line of a query gets an answer.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tangere/io/query.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/math/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const tangere::Scene scene = tangere::scene_from_text(text, "/nowhere/fuzz.json");
    if (scene.q.size() != scene.robot.model.nq() || scene.v.size() != scene.robot.model.nv()) {
      std::fputs("a state of another size than the model\n", stderr);
      std::abort();
    }
  } catch (const tangere::InputError&) {
    // as it should be
  }
  static tangere::ScalingWorkspace workspace;
  if (tangere::answer_query_line(text, 1, workspace).json.empty()) {
    std::fputs("a line without an answer\n", stderr);
    std::abort();
  }
  return 0;
}
