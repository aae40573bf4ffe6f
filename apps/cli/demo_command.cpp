/// `tangere demo`: gradients of random pairs checked live, and a page with pictures.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "apps/cli/commands.hpp"
#include "apps/cli/demo_checks.hpp"
#include "apps/cli/demo_page.hpp"
#include "apps/cli/demo_pictures.hpp"

namespace tangere::cli {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void print_table(const std::vector<CombinationCheck>& checks) {
  std::printf("%-36s %15s %10s %8s %12s %12s\n", "", "alpha", "iterations", "time", "pose error", "size error");
  for (const CombinationCheck& check : checks) {
    std::printf("%-36s %6.3f .. %5.3f %10.1f %5.1f us %12.1e %12.1e%s\n", (check.type_a + " - " + check.type_b).c_str(),
                check.smallest_alpha, check.largest_alpha, check.mean_iterations, check.microseconds, check.pose_error,
                check.parameter_error, check.passed ? "" : "  FAIL");
  }
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

  // checks
  std::printf("Minimum scaling of random pairs: every combination of shapes, %d pairs each, seed %llu.\n",
              kPairsPerCombination, static_cast<unsigned long long>(arguments.seed));
  std::printf("Gradients in poses and in sizes against central differences, relative.\n\n");
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<CombinationCheck> checks = check_combinations(arguments.seed);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_table(checks);

  const DemoSummary summary = summary_of(checks);
  std::printf(
      "\n%s: %d combinations, %d pairs, %d failed; worst pose error %.1e, worst size error %.1e (allowed %.0e); %.1f "
      "s\n",
      summary.failed == 0 ? "PASS" : "FAIL", summary.combinations, summary.combinations * kPairsPerCombination,
      summary.failed, summary.worst_pose_error, summary.worst_parameter_error, kGradientTolerance, elapsed.count());

  // pictures
  const std::vector<Picture> pictures = demo_pictures();
  for (const Picture& picture : pictures) write_file(folder / (picture.name + ".svg"), picture.svg);
  write_file(folder / "index.html", demo_page(pictures, checks, arguments.seed));
  std::printf("pictures: %s\n", (folder / "index.html").c_str());
  return summary.failed == 0 ? kExitOk : kExitFailed;
}

}  // namespace tangere::cli
