/// `tangere view FILE`: in the browser, as a page, or for other programs.

#include <cstdio>

#include "apps/cli/commands.hpp"
#include "apps/cli/distinct_files.hpp"
#include "apps/cli/interrupt.hpp"
#include "apps/cli/view_server.hpp"
#include "apps/cli/view_source.hpp"
#include "apps/cli/viewer_page.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_export.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

LoadOptions load_options(const ViewArguments& arguments) {
  LoadOptions options;
  options.base = arguments.base == "free" ? Base::free : Base::fixed;
  options.search_paths.assign(arguments.package_paths.begin(), arguments.package_paths.end());
  return options;
}

ViewSource load(const ViewArguments& arguments) {
  ViewSource source = load_view_source(arguments.file, load_options(arguments));
  for (const std::string& file : arguments.ghosts)
    add_ghost(source.recording, load_view_source(file, load_options(arguments)).recording, file);
  if (source.text.empty() || !arguments.ghosts.empty()) {
    source.text = recording_text(source.recording);
    // what the page would refuse is said here
    (void)recording_from_text(source.text, arguments.file);
  }
  for (const std::string& note : source.notes)
    std::fprintf(stderr, "tangere view: %s: %s\n", arguments.file.c_str(), note.c_str());
  return source;
}

void verify(const ViewArguments& arguments) {
  std::vector<NamedFile> inputs{{"FILE", arguments.file}};
  for (const std::string& ghost : arguments.ghosts) inputs.push_back({"--ghost", ghost});
  require_distinct(inputs, {{"--html", arguments.html}, {"--gltf", arguments.gltf}, {"--csv", arguments.csv}});
}

void say_written(const std::string& file) {
  if (file != "/dev/stdout") std::printf("%s\n", file.c_str());
}

/// True if anything was asked for.
bool write_files(const ViewArguments& arguments, const ViewSource& source) {
  if (!arguments.html.empty()) {
    write_recording_page(arguments.html, source.text);
    say_written(arguments.html);
  }
  if (!arguments.gltf.empty()) {
    if (!arguments.ghosts.empty()) std::fprintf(stderr, "tangere view: --gltf: ghosts are left out\n");
    write_whole_file(arguments.gltf, to_gltf(source.recording));
    say_written(arguments.gltf);
  }
  if (!arguments.csv.empty()) {
    write_whole_file(arguments.csv, to_csv(source.recording));
    say_written(arguments.csv);
  }
  return !(arguments.html.empty() && arguments.gltf.empty() && arguments.csv.empty());
}

}  // namespace

int run_view(const ViewArguments& arguments) {
  try {
    verify(arguments);
    ViewSource source = load(arguments);
    if (write_files(arguments, source)) return kExitOk;
    LiveRecording served;
    served.set_whole(std::move(source.text));
    const InterruptGuard guard;
    const ViewServer server(viewer_page(), served, arguments.port);
    std::printf("%s   (Ctrl-C ends)\n", server.address().c_str());
    std::fflush(stdout);
    wait_for_interrupt();
    return kExitOk;
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere view: %s\n", printable(error.what()).c_str());
    return kExitBadInput;
  }
}

}  // namespace tangere::cli
