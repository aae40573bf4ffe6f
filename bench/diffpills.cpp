/// bench_diffpills: the pairs of the DiffPills paper (capsule and capsule, two padded polygons, capsule and polygon)
/// and a few beyond it, by the interior point and, where it can serve, by the active set.
///
/// The paper has no table of times. Its one claim about speed is Appendix A: for two capsules the active set
/// outperforms an interior point; the first two rows are that comparison. Poses as in bench_table1: r ~ 2 N(0, I) and a
/// uniform attitude for both bodies (seed 21). "gradient" and "jacobian" are what these add to the call, timed within
/// it.

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/pair_set.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/proximity_derivatives.hpp"

namespace tangere::bench {
namespace {

constexpr int kDraws = 100;
constexpr int kPasses = 11;

struct Row {
  const char* name;
  Shape A;
  Shape B;
  ProximityMethod method;
};

std::vector<Row> rows() {
  const Shape capsule = Capsule{.radius = 0.5, .length = 2.0};
  const Shape polygon = pentagon();
  const Shape box = Box{.size = {1, 2, 1.5}};
  const Shape sphere = Sphere{.radius = 0.5};
  const auto interior = ProximityMethod::interior_point;
  return {{"capsule-capsule", capsule, capsule, ProximityMethod::active_set},
          {"capsule-capsule", capsule, capsule, interior},
          {"polygon-polygon", polygon, polygon, interior},
          {"capsule-polygon", capsule, polygon, interior},
          {"sphere-capsule", sphere, capsule, ProximityMethod::active_set},
          {"sphere-box", sphere, box, interior},
          {"capsule-box", capsule, box, interior},
          {"box-box", box, box, interior}};
}

/// Means over the draws of medians over the passes, ns.
struct Cell {
  double query = 0.0;
  double gradient = 0.0;
  double jacobian = 0.0;
  double iterations = 0.0;
};

Cell measure(const Row& row, const CallTimer& timer, ProximityWorkspace& workspace, Random& random) {
  std::vector<Pose> X_WA;
  std::vector<Pose> X_WB;
  for (int i = 0; i < kDraws; ++i) {
    X_WA.emplace_back(random.rotation(), 2.0 * random.normal3());
    X_WB.emplace_back(random.rotation(), 2.0 * random.normal3());
  }
  std::vector<std::vector<double>> query(kDraws);
  std::vector<std::vector<double>> gradient(kDraws);
  std::vector<std::vector<double>> jacobian(kDraws);
  const ProximityOptions options{.method = row.method};
  Cell cell;
  // the first pass warms up
  for (int pass = 0; pass <= kPasses; ++pass) {
    for (std::size_t i = 0; i < kDraws; ++i) {
      int iterations = 0;
      const auto value = [&] {
        const Proximity result = proximity(row.A, X_WA[i], row.B, X_WB[i], options, workspace);
        iterations = result.iterations;
        keep(result);
      };
      const double time = timer(value);
      const double more = timer.split(value, [&] { keep(proximity_gradient(workspace)); }).second;
      const double most = timer.split(value, [&] { keep(proximity_jacobian(workspace)); }).second;
      if (pass == 0) {
        cell.iterations += static_cast<double>(iterations) / kDraws;
        continue;
      }
      query[i].push_back(time);
      gradient[i].push_back(more);
      jacobian[i].push_back(most);
    }
  }
  for (std::size_t i = 0; i < kDraws; ++i) {
    cell.query += median(query[i]) / kDraws;
    cell.gradient += median(gradient[i]) / kDraws;
    cell.jacobian += median(jacobian[i]) / kDraws;
  }
  return cell;
}

void run() {
  const CallTimer timer;
  ProximityWorkspace workspace;
  std::printf(
      "DiffPills: nanoseconds, mean over %d random poses, tolerance 1e-10 (the paper has no table of times)\n\n",
      kDraws);
  std::printf("%-16s %-15s %9s %10s %10s %11s\n", "", "method", "query", "+gradient", "+jacobian", "iterations");
  for (const Row& row : rows()) {
    Random random(21);
    const Cell cell = measure(row, timer, workspace, random);
    std::printf("%-16s %-15s %9.0f %10.0f %10.0f %11.1f\n", row.name,
                row.method == ProximityMethod::active_set ? "active set" : "interior point", cell.query, cell.gradient,
                cell.jacobian, cell.iterations);
  }
}

}  // namespace
}  // namespace tangere::bench

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view(argv[1]) == "--help";
    (help ? std::cout : std::cerr) << "bench_diffpills: the proximity query for the pairs of the DiffPills paper, by "
                                      "interior point and active set. No options.\n";
    return help ? 0 : 2;
  }
  tangere::bench::run();
  return 0;
}
