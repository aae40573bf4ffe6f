/// `tangere demo`: an arm among things of every shape, gradients of steps and of pairs checked live, and pages to look
/// at.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apps/cli/build_info.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/demo_checks.hpp"
#include "apps/cli/demo_page.hpp"
#include "apps/cli/demo_pictures.hpp"
#include "apps/cli/demo_scene.hpp"
#include "apps/cli/experiment_pages.hpp"
#include "apps/cli/folders.hpp"
#include "apps/cli/gallery.hpp"
#include "apps/cli/text.hpp"
#include "apps/cli/viewer_page.hpp"
#include "tangere/io/query_recording.hpp"
#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/io/shape_json.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

void print_table(const std::vector<CombinationCheck>& checks) {
  std::printf("%-36s %15s %10s %8s %12s %12s\n", "", "alpha", "iterations", "time", "pose error", "size error");
  for (const CombinationCheck& check : checks) {
    std::printf("%-36s %6.3f .. %5.3f %10.1f %5.1f us %12.1e %12.1e%s\n", (check.type_a + " - " + check.type_b).c_str(),
                check.smallest_alpha, check.largest_alpha, check.mean_iterations, check.microseconds, check.pose_error,
                check.parameter_error, check.passed ? "" : "  FAIL");
  }
}

/// The viewer's page, or a word about why there are no pages.
std::optional<std::string> find_viewer() {
  try {
    return viewer_page();
  } catch (const InputError& error) {
    std::printf("no animations: %s\n\n", printable(error.what()).c_str());
    return std::nullopt;
  }
}

/// The pairs of the pictures, to turn about: shapes, their scaled copies, witness points.
std::string pairs_recording() {
  std::string lines;
  for (const DemoPair& pair : demo_pairs()) {
    const auto side = [](const Shape& shape, const Pose& X) {
      const Vector4 q = X.quaternion();
      return nlohmann::json{{"shape", nlohmann::json::parse(shape_to_json(shape))},
                            {"position", {X.p[0], X.p[1], X.p[2]}},
                            {"quaternion", {q[0], q[1], q[2], q[3]}}};
    };
    const nlohmann::json query = {{"a", side(pair.shape_A, pair.X_WA)}, {"b", side(pair.shape_B, pair.X_WB)}};
    lines += query.dump() + "\n";
  }
  return recording_text(record_queries(lines, "pairs"));
}

/// The pages of a demo as they come.
class DemoPages {
 public:
  explicit DemoPages(std::filesystem::path folder) : folder_(std::move(folder)), viewer_(find_viewer()) {}

  void add_recording(const GalleryEntry& entry, const std::string& recording) {
    if (!viewer_) return;
    write_whole_file(folder_ / entry.file, recording_page(*viewer_, recording));
    entries_.push_back(entry);
    entries_.back().is_recording = true;
  }
  void add_page(const GalleryEntry& entry, const std::string& page) {
    write_whole_file(folder_ / entry.file, page);
    entries_.push_back(entry);
  }
  void add_link(const GalleryEntry& entry) { entries_.push_back(entry); }
  [[nodiscard]] bool has_viewer() const { return viewer_.has_value(); }

  void write_gallery() const {
    write_whole_file(
        folder_ / "index.html",
        gallery_page(
            {"Tangere: the tangent of contact",
             "Contact with exact derivatives, to look at. Every page is one file: it opens without a network, and "
             "can be sent to others as it is. Space plays, a click on a body shows its numbers, ? shows the keys.",
             entries_}));
  }

 private:
  std::filesystem::path folder_;
  std::optional<std::string> viewer_;
  std::vector<GalleryEntry> entries_;
};

/// The flagship. True if its gradients are right.
bool show_sweep(const std::filesystem::path& scenes, DemoPages& pages) {
  const DemoRun run = run_sweep(scenes);
  const GradientReport& gradients = run.gradients;
  double worst = 0.0;
  for (const BlockError& block : gradients.blocks) worst = std::max(worst, block.worst);
  const std::string numbers = formatted(
      "%d steps in %.2f s (%.1f times real time), up to %d contacts; gradients of %d steps, %d columns compared "
      "with differences (%d left out, at ties or too near them), worst error %.1e of the block",
      run.num_steps, run.wall_seconds, run.simulated_seconds / run.wall_seconds, run.most_contacts, gradients.num_steps,
      gradients.num_compared(), gradients.num_ties + gradients.num_unclear, worst);
  std::printf("An arm among things of every shape: %s.\n%s\n\n", numbers.c_str(), gradients.passed() ? "PASS" : "FAIL");
  std::fflush(stdout);
  pages.add_recording({"sweep.html", "An arm among things of every shape",
                       "An articulated arm sweeps eleven things aside, each of another shape. " + numbers + "."},
                      run.recording);
  return gradients.passed();
}

void show_scenes(const std::filesystem::path& scenes, DemoPages& pages) {
  pages.add_recording(
      {"stack.html", "A stack comes to rest", "A crate, a can, an egg, a pipe and a dumbbell that spins."},
      run_scene(scenes / "mixed_stack.json", 2.0).recording);
  pages.add_recording(
      {"humanoid.html", "A humanoid falls", "33 degrees of freedom, no control; its joints have sliders."},
      run_scene(scenes / "humanoid.xml", 1.6, LimbsCollide::yes).recording);
}

/// Every combination of shapes. True if all gradients are right.
bool show_pairs(std::uint64_t seed, const std::filesystem::path& folder, DemoPages& pages) {
  std::printf("Minimum scaling of random pairs: every combination of shapes, %d pairs each, seed %llu.\n",
              kPairsPerCombination, static_cast<unsigned long long>(seed));
  std::printf("Gradients in poses and in sizes against central differences, relative.\n\n");
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<CombinationCheck> checks = check_combinations(seed);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_table(checks);

  const DemoSummary summary = summary_of(checks);
  std::printf(
      "\n%s: %d combinations, %d pairs, %d failed; worst pose error %.1e, worst size error %.1e (allowed %.0e); %.1f "
      "s\n",
      summary.failed == 0 ? "PASS" : "FAIL", summary.combinations, summary.combinations * kPairsPerCombination,
      summary.failed, summary.worst_pose_error, summary.worst_parameter_error, kPairTolerance, elapsed.count());

  const std::vector<Picture> pictures = demo_pictures();
  for (const Picture& picture : pictures) write_whole_file(folder / (picture.name + ".svg"), picture.svg);
  pages.add_recording({"pairs3d.html", "Pairs and their scaling",
                       "Both shapes, their copies scaled by α that touch, witness "
                       "points and normal; apart, touching and overlapping."},
                      pairs_recording());
  pages.add_page({"pairs.html", "Gradients of every pair of shapes",
                  formatted("%d combinations, checked live: worst error %.1e.", summary.combinations,
                            std::max(summary.worst_pose_error, summary.worst_parameter_error)),
                  pictures.front().svg},
                 demo_page(pictures, checks, seed));
  return summary.failed == 0;
}

/// Experiments that take a second, with a gallery of their own. Whether their claims are met is said, not judged: some
/// are about time, and the machine may be busy.
void show_experiments(const std::filesystem::path& scenes, const std::filesystem::path& folder, DemoPages& pages) {
  if (!pages.has_viewer()) return;
  constexpr std::string_view kShort[] = {"dcol_primitives",   "silico_tower", "silico_peg_3d",
                                         "silico_bundles_3d", "nimble_balls", "nimble_drone"};
  const std::filesystem::path own_folder = folder / "experiments";
  ExperimentPages own(own_folder);
  int num_run = 0;
  int num_met = 0;
  for (const experiments::Experiment& experiment : experiments::all_experiments()) {
    if (std::find(std::begin(kShort), std::end(kShort), experiment.name) == std::end(kShort)) continue;
    experiments::ResultLog log(own_folder / (std::string(experiment.name) + ".jsonl"),
                               experiments::OldResults::overwrite, made_by());
    const experiments::Outcome outcome = experiment.run({scenes, 0, log, true});
    own.add(experiment, outcome);
    ++num_run;
    num_met += outcome.met ? 1 : 0;
  }
  (void)own.write_gallery();
  std::printf("%d experiments of the papers, %d claims met.\n\n", num_run, num_met);
  pages.add_link({.file = "experiments/index.html",
                  .title = "Experiments of the papers",
                  .text = formatted("%d of them, to watch; `tangere experiment` runs all.", num_run),
                  .shown = "experiments/dcol_primitives.html"});
}

struct NamedRecording {
  std::string name;
  Recording recording;
};

/// Recordings that are there already, of examples for instance. Other files are left out, with a word.
std::vector<NamedRecording> find_recordings(const std::vector<std::string>& folders) {
  std::vector<NamedRecording> found;
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(folder)) throw InputError("--recordings", folder + " is not a folder");
    std::set<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".json") files.insert(file.path());
    for (const std::filesystem::path& file : files) {
      try {
        found.push_back({file.stem().string(), load_recording(file)});
      } catch (const InputError& error) {
        std::fprintf(stderr, "tangere demo: left out: %s\n", printable(error.what()).c_str());
      }
    }
  }
  return found;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

void show_recordings(const std::vector<NamedRecording>& recordings, const std::filesystem::path& output,
                     DemoPages& pages) {
  if (!recordings.empty()) std::filesystem::create_directories(output / "recordings");
  for (const auto& [name, recording] : recordings)
    pages.add_recording({"recordings/" + name + ".html", name,
                         "A recording of " + counted(recording.frames.size(), "frame", "frames") + ", " +
                             counted(recording.bodies.size(), "body", "bodies") + "."},
                        recording_text(recording));
}

}  // namespace

int run_demo(const DemoArguments& arguments) {
  std::filesystem::path folder = arguments.output;
  if (folder.empty()) folder = std::filesystem::is_directory("build") ? "build/demo" : "tangere-demo";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!std::filesystem::is_directory(folder)) {
    std::fprintf(stderr, "tangere demo: cannot make the folder %s: %s\n", folder.c_str(), failure.message().c_str());
    return kExitBadInput;
  }
  try {
    const std::filesystem::path scenes = scenes_folder(arguments.scenes, "--scenes");
    const std::vector<NamedRecording> recordings = find_recordings(arguments.recordings);
    DemoPages pages(folder);
    const bool sweep_passed = show_sweep(scenes, pages);
    show_scenes(scenes, pages);
    show_experiments(scenes, folder, pages);
    const bool pairs_passed = show_pairs(arguments.seed, folder, pages);
    show_recordings(recordings, folder, pages);
    pages.write_gallery();
    std::printf("\nopen in a browser: %s\n",
                std::filesystem::absolute(folder / "index.html").lexically_normal().c_str());
    return sweep_passed && pairs_passed ? kExitOk : kExitFailed;
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere demo: %s\n", printable(error.what()).c_str());
    return kExitBadInput;
  }
}

}  // namespace tangere::cli
