/// bench_table1: Table I of the DCOL paper, evaluate and differentiate.
///
/// The paper's seven shapes, each against the six others (the sphere is a partner, not a column), tolerance 1e-6. The
/// paper took one random pose per ordered pair, r ~ 2 N(0, I) and a uniform attitude for both bodies, which makes the
/// iteration count of that one pose the figure; here it is the mean over many such poses, from our own generator (seed
/// 20). "differentiate" is what the 4x12 Jacobian adds to the call, timed within the same call. The paper's machine
/// was, by the granularity of its raw figures, an Apple laptop.

#include <cstdio>
#include <iostream>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/pair_set.hpp"
#include "bench/support/queries.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"

namespace tangere::bench {
namespace {

constexpr double kTolerance = 1e-6;
constexpr int kDraws = 50;
constexpr int kPasses = 11;

struct NamedShape {
  std::string name;
  Shape shape;
  /// The paper's column of Table I, µs; zero for the sphere, which has none.
  double paper_evaluate;
  double paper_differentiate;
};

std::vector<NamedShape> table_shapes() {
  const double degree = std::numbers::pi / 180.0;
  const Vector3 root_P = 2.5 * Vector3(1.0, 1.0 / 2.0, 1.0 / 3.0);
  return {{"box", Box{.size = {4, 4, 3}}, 5.9, 1.4},
          {"capsule", Capsule{.radius = 0.5, .length = 2.0}, 8.5, 1.4},
          {"cylinder", Cylinder{.radius = 0.5, .length = 2.0}, 8.4, 1.6},
          {"cone", Cone{.height = 2.0, .half_angle = 22.0 * degree}, 5.0, 1.3},
          {"sphere", Sphere{.radius = 0.7}, 0.0, 0.0},
          {"ellipsoid", Ellipsoid{.semi_axes = {}, .P = Matrix3(root_P.cwiseAbs2().asDiagonal())}, 6.8, 1.3},
          {"polygon", pentagon(), 9.4, 1.7}};
}

/// Mean over the draws of the median over the passes, µs.
struct Cell {
  double evaluate = 0.0;
  double differentiate = 0.0;
};

Cell measure(const Shape& A, const Shape& B, const CallTimer& timer, ScalingQueries& queries, Random& random) {
  std::vector<Pair> pairs;
  for (int i = 0; i < kDraws; ++i) {
    const Pose X_WA(random.rotation(), 2.0 * random.normal3());
    const Pose X_WB(random.rotation(), 2.0 * random.normal3());
    pairs.push_back({0, A, B, X_WA, X_WB});
  }
  std::vector<std::vector<double>> evaluate(pairs.size());
  std::vector<std::vector<double>> differentiate(pairs.size());
  // the first pass warms up
  for (int pass = 0; pass <= kPasses; ++pass) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto alpha = [&] { keep(queries.alpha(pairs[i])); };
      const double value = timer(alpha);
      const double jacobian = timer.split(alpha, [&] { keep(queries.jacobian()); }).second;
      if (pass == 0) continue;
      evaluate[i].push_back(value);
      differentiate[i].push_back(jacobian);
    }
  }
  Cell cell;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    cell.evaluate += 1e-3 * median(evaluate[i]) / kDraws;
    cell.differentiate += 1e-3 * median(differentiate[i]) / kDraws;
  }
  return cell;
}

void run() {
  const std::vector<NamedShape> shapes = table_shapes();
  const CallTimer timer;
  ScalingQueries queries(kTolerance, ScalingMethod::conic);
  Random random(20);
  const std::size_t n = shapes.size();
  std::vector<std::vector<Cell>> cells(n, std::vector<Cell>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j) cells[i][j] = measure(shapes[i].shape, shapes[j].shape, timer, queries, random);
    }
  }

  std::printf(
      "DCOL Table I: microseconds at tolerance 1e-6; mean over the six other shapes of %d random poses each\n\n",
      kDraws);
  std::printf("%-12s %10s %10s | %14s %10s\n", "", "evaluate", "paper", "differentiate", "paper");
  for (std::size_t i = 0; i < n; ++i) {
    Cell mean;
    for (std::size_t j = 0; j < n; ++j) {
      mean.evaluate += cells[i][j].evaluate / static_cast<double>(n - 1);
      mean.differentiate += cells[i][j].differentiate / static_cast<double>(n - 1);
    }
    std::printf("%-12s %10.2f", shapes[i].name.c_str(), mean.evaluate);
    shapes[i].paper_evaluate > 0 ? std::printf(" %10.2f", shapes[i].paper_evaluate) : std::printf(" %10s", "-");
    std::printf(" | %14.2f", mean.differentiate);
    shapes[i].paper_differentiate > 0 ? std::printf(" %10.2f\n", shapes[i].paper_differentiate)
                                      : std::printf(" %10s\n", "-");
  }

  std::printf("\nevaluate, row against column\n%-12s", "");
  for (const NamedShape& shape : shapes) std::printf(" %9.9s", shape.name.c_str());
  for (std::size_t i = 0; i < n; ++i) {
    std::printf("\n%-12s", shapes[i].name.c_str());
    for (std::size_t j = 0; j < n; ++j) i == j ? std::printf(" %9s", "-") : std::printf(" %9.2f", cells[i][j].evaluate);
  }
  std::printf("\n");
}

}  // namespace
}  // namespace tangere::bench

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view(argv[1]) == "--help";
    (help ? std::cout : std::cerr)
        << "bench_table1: DCOL's Table I (evaluate, differentiate) beside the paper's figures. No options.\n";
    return help ? 0 : 2;
  }
  tangere::bench::run();
  return 0;
}
