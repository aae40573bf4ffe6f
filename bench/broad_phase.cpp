/// bench_broad_phase: moving boxes, update + pairs a step, beside FCL's dynamic AABB tree in the same run on one core.
///
/// The scene: n boxes with edges from 0.5 to 1.5 in a cube whose volume is 1.95 n, about two overlapping pairs a body
/// at every n. Three ways to move, each body at a constant velocity of its own in a random direction, reflected at the
/// walls:
///
///   drift     all bodies, 1 % of the mean edge a step
///   rush      all bodies, 1 % of the edge of the scene a step (at 10 000 bodies, a quarter of a body)
///   few       1 % of the bodies, which jump to a random place; the others rest
///
/// Both get the same boxes, computed before the clock starts,
/// take turns step by step, and must find as many pairs.
/// Processor time of the thread, which a busy machine disturbs less than the clock on the wall; means over the steps.
/// `worst` is the slowest step of ours, one that makes its list of candidates anew.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/support/fcl_broad_phase.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/broad_phase.hpp"

namespace tangere::bench {
namespace {

enum class Motion { drift, rush, few };
constexpr Motion kMotions[] = {Motion::drift, Motion::rush, Motion::few};
constexpr const char* kMotionNames[] = {"drift", "rush", "few"};

constexpr int kWarmUp = 10;
/// FCL stops taking part in a row of the table after so many microseconds.
constexpr double kPeerBudget = 10e6;

struct Arguments {
  int steps = 60;
  int max_bodies = 100000;
  double margin = BroadPhaseOptions{}.margin;
  bool fcl = true;
  bool json = false;
};

class Scene {
 public:
  Scene(int n, Motion motion) : motion_(motion), edge_(std::cbrt(1.95 * n)), random_(7) {
    const double speed = motion == Motion::rush ? 0.01 * edge_ : 0.01;
    for (int i = 0; i < n; ++i) {
      centres_.push_back(place());
      halves_.emplace_back(0.5 *
                           Vector3(random_.uniform(0.5, 1.5), random_.uniform(0.5, 1.5), random_.uniform(0.5, 1.5)));
      velocities_.emplace_back(speed * random_.unit_vector());
      boxes.push_back(box(centres_.size() - 1));
    }
    step();
  }

  /// Moves the bodies in `moved`.
  void step() {
    moved.clear();
    if (motion_ == Motion::few) {
      const int n = static_cast<int>(boxes.size());
      for (int k = 0; k < std::max(1, n / 100); ++k) {
        moved.push_back(random_.index(n));
        centres_[moved.back()] = place();
      }
    } else {
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        moved.push_back(static_cast<int>(i));
        centres_[i] += velocities_[i];
        for (int k = 0; k < 3; ++k) {
          if (std::abs(centres_[i][k]) > 0.5 * edge_)
            velocities_[i][k] = -std::copysign(velocities_[i][k], centres_[i][k]);
        }
      }
    }
    for (const int i : moved) boxes[i] = box(static_cast<std::size_t>(i));
  }

  std::vector<Aabb> boxes;
  std::vector<int> moved;

 private:
  Vector3 place() {
    return 0.5 * edge_ * Vector3(random_.uniform(-1, 1), random_.uniform(-1, 1), random_.uniform(-1, 1));
  }
  [[nodiscard]] Aabb box(std::size_t i) const { return {centres_[i] - halves_[i], centres_[i] + halves_[i]}; }

  Motion motion_;
  double edge_;
  Random random_;
  std::vector<Vector3> centres_;
  std::vector<Vector3> halves_;
  std::vector<Vector3> velocities_;
};

/// Microseconds a step.
struct Row {
  Motion motion;
  int bodies;
  std::size_t pairs = 0;
  double update = 0.0;
  double find = 0.0;
  double worst = 0.0;
  double fcl = 0.0;
  bool agrees = true;

  [[nodiscard]] double total() const { return update + find; }
  /// Nanoseconds over n log2 n.
  [[nodiscard]] double constant() const { return 1e3 * total() / (bodies * std::log2(bodies)); }
};

/// Microseconds of this thread.
double cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

Row measure(Motion motion, int n, const Arguments& arguments) {
  Row row{motion, n};
  Scene scene(n, motion);
  BroadPhase broad_phase({.margin = arguments.margin});
  for (const Aabb& box : scene.boxes) broad_phase.add(box);
  keep(broad_phase.pairs().size());
  FclBroadPhase fcl(scene.boxes);
  std::vector<double> update, find, total, peer;
  double peer_sum = 0.0;
  for (int step = -kWarmUp; step < arguments.steps; ++step) {
    scene.step();
    const double start = cpu_time();
    for (const int i : scene.moved) broad_phase.update(i, scene.boxes[i]);
    const double middle = cpu_time();
    row.pairs = broad_phase.pairs().size();
    const double stop = cpu_time();
    if (step >= 0) {
      update.push_back(middle - start);
      find.push_back(stop - middle);
      total.push_back(stop - start);
    }
    if (arguments.fcl && peer_sum < kPeerBudget) {
      fcl.set(scene.boxes, scene.moved);
      const double peer_start = cpu_time();
      row.agrees &= fcl.update_and_count_pairs() == row.pairs;
      const double elapsed = cpu_time() - peer_start;
      peer_sum += elapsed;
      if (step > -kWarmUp) peer.push_back(elapsed);
    }
  }
  row.update = statistics(update).mean;
  row.find = statistics(find).mean;
  row.worst = *std::max_element(total.begin(), total.end());
  row.fcl = statistics(peer).mean;
  return row;
}

void print_table(const std::vector<Row>& rows, const Arguments& arguments) {
  std::printf("moving boxes, margin %g, mean over %d steps; microseconds a step\n\n", arguments.margin,
              arguments.steps);
  std::printf("%-7s %8s %9s | %9s %9s %9s %9s | %12s | %9s %8s\n", "motion", "bodies", "pairs", "update", "pairs",
              "total", "worst", "ns / n log n", "FCL", "FCL/ours");
  for (const Row& row : rows) {
    std::printf("%-7s %8d %9zu | %9.1f %9.1f %9.1f %9.1f | %12.2f", kMotionNames[static_cast<int>(row.motion)],
                row.bodies, row.pairs, row.update, row.find, row.total(), row.worst, row.constant());
    if (arguments.fcl) {
      std::printf(" | %9.1f %8.1f%s", row.fcl, row.fcl / row.total(), row.agrees ? "" : "   PAIRS DIFFER");
    }
    std::printf("\n");
  }
}

nlohmann::ordered_json to_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    result.push_back({{"motion", kMotionNames[static_cast<int>(row.motion)]},
                      {"bodies", row.bodies},
                      {"pairs", row.pairs},
                      {"update_us", row.update},
                      {"pairs_us", row.find},
                      {"worst_us", row.worst},
                      {"fcl_us", row.fcl},
                      {"pairs_agree", row.agrees}});
  }
  return result;
}

[[noreturn]] void usage(int code) {
  (code == 0 ? std::cout : std::cerr)
      << "bench_broad_phase [--steps n] [--max-bodies n] [--margin m] [--no-fcl] [--json]\n"
         "Times update + pairs of moving boxes, beside FCL's dynamic AABB tree.\n";
  std::exit(code);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--help" || argument == "-h") usage(0);
    if (argument == "--json") {
      arguments.json = true;
    } else if (argument == "--no-fcl") {
      arguments.fcl = false;
    } else if (argument == "--steps" && more) {
      arguments.steps = std::atoi(argv[++i]);
    } else if (argument == "--max-bodies" && more) {
      arguments.max_bodies = std::atoi(argv[++i]);
    } else if (argument == "--margin" && more) {
      arguments.margin = std::atof(argv[++i]);
    } else {
      usage(2);
    }
  }
  if (arguments.steps < 1) usage(2);
  return arguments;
}

}  // namespace
}  // namespace tangere::bench

int main(int argc, char** argv) {
  using namespace tangere::bench;
  const Arguments arguments = parse(argc, argv);
  std::vector<Row> rows;
  for (const Motion motion : kMotions) {
    for (int n = 100; n <= arguments.max_bodies; n *= 10) rows.push_back(measure(motion, n, arguments));
  }
  if (arguments.json) {
    std::cout << to_json(rows).dump() << "\n";
  } else {
    print_table(rows, arguments);
  }
  return 0;
}
