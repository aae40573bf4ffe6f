/// `tangere clearance FILE`: which shapes of a robot or scene are near each other, at one configuration or at those of
/// JSON lines, and along straight motions between two.

#include <cmath>
#include <cstdio>
#include <string>

#include "apps/cli/commands.hpp"
#include "apps/cli/line_reader.hpp"
#include "tangere/io/clearance_query.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

std::string numbers(const VectorX& values) {
  std::string out = "[";
  char text[32];
  for (int k = 0; k < values.size(); ++k) {
    std::snprintf(text, sizeof(text), "%s%.17g", k == 0 ? "" : ", ", values[k]);
    out += text;
  }
  return out + "]";
}

/// The question as a line, so that it is answered and refused as any other.
std::string question(const ClearanceArguments& arguments, const VectorX& q) {
  std::string line = "{\"q\": " + numbers(q);
  if (arguments.margin) line += ", \"margin\": " + numbers(VectorX::Constant(1, *arguments.margin)).substr(1);
  if (arguments.margin) line.pop_back();
  line += ", \"metric\": \"" + arguments.metric + "\"";
  return line + "}";
}

}  // namespace

int run_clearance(const ClearanceArguments& arguments) {
  try {
    LoadOptions options;
    options.base = arguments.base == "free" ? Base::free : Base::fixed;
    options.search_paths.assign(arguments.package_paths.begin(), arguments.package_paths.end());
    const Scene scene = load_scene(arguments.file, options);
    const World world(scene);
    ClearanceLines lines(world);
    if (!arguments.queries.empty()) {
      return answer_lines("clearance", arguments.queries,
                          [&](std::string_view line, std::size_t number) { return lines.answer(line, number); });
    }
    VectorX q = scene.q;
    if (!arguments.q.empty()) {
      if (static_cast<int>(arguments.q.size()) != world.nq())
        throw InputError("--q",
                         "needs " + std::to_string(world.nq()) + " numbers, got " + std::to_string(arguments.q.size()));
      for (int k = 0; k < world.nq(); ++k) q[k] = arguments.q[k];
      if (!q.allFinite()) throw InputError("--q", "must be finite numbers");
    }
    if (arguments.margin && !std::isfinite(*arguments.margin)) throw InputError("--margin", "must be finite");
    const QueryAnswer answered = lines.answer(question(arguments, q), 1);
    std::printf("%s\n", answered.json.c_str());
    return answered.ok ? kExitOk : kExitBadInput;
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere clearance: %s\n", printable(error.what()).c_str());
    return kExitBadInput;
  }
}

}  // namespace tangere::cli
