/// bench_pairs: the scaling query by both routes and FCL on the 45-combination set (support/pair_set.hpp), in one run
/// on one core.
///
/// How it measures. In each pass every query goes once through all pairs, in a new random order, and the queries take
/// turns in a random sequence: branch prediction learns neither a pair nor an order, and what one query leaves behind
/// for the next, and the noise of the machine, fall on all alike. Every call is timed on its own (support/timer.hpp). A
/// pair's time is its median over the passes; median, mean and 99th percentile are then taken over the pairs. What the
/// gradient and the Jacobian add to alpha is timed within the same call, as the difference of two calls a pass apart is
/// mostly noise.
///
/// That is all 4500 pairs between two visits of one by the same query, with the data of every other query: from the
/// main memory where the last cache is small (a virtual machine's share of it often is), from the cache where it is
/// large. So the ratio to FCL is measured a second time in small groups of pairs, ten of each combination at a time,
/// whose data mostly stay in the cache; all else is the same.
///
/// FCL has no padded polygon: its figures cover 36 of the 45 combinations, and ratios are given over all pairs and over
/// those 36.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/support/fcl_peer.hpp"
#include "bench/support/pair_set.hpp"
#include "bench/support/queries.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"

namespace tangere::bench {
namespace {

constexpr double kTolerance = 1e-8;

struct Arguments {
  int passes = 21;
  bool json = false;
};

/// The queries, in the order of columns.
enum Query {
  support_alpha,
  support_alpha_gradient,
  signed_distance,
  conic_alpha,
  conic_alpha_gradient,
  conic_jacobian,
  fcl_distance,
  fcl_signed_distance,
  kNumQueries
};
constexpr const char* kQueryNames[] = {"support_alpha", "support_alpha_gradient", "signed_distance",
                                       "conic_alpha",   "conic_alpha_gradient",   "conic_jacobian",
                                       "fcl_distance",  "fcl_signed_distance"};

struct Measurement {
  PairSet set;
  int passes;
  double timer_overhead_ns;
  /// Nanoseconds, times[query][pair]: the median over the passes; NaN where FCL does not have the shape.
  std::vector<std::vector<double>> times;
  /// The part of conic_alpha_gradient and conic_jacobian that comes after alpha; extra[query][pair], empty for the
  /// others.
  std::vector<std::vector<double>> extra;
  std::vector<bool> in_fcl;
  int not_solved = 0;
  int routes_differ = 0;
  long fallbacks = 0;
  int penetrating = 0;
  int signs_agree = 0;
};

void shuffle(std::vector<std::size_t>& values, Random& random) {
  for (std::size_t i = values.size() - 1; i > 0; --i) {
    std::swap(values[i], values[random.index(static_cast<int>(i) + 1)]);
  }
}

/// Over the last index; NaN for no sample.
std::vector<std::vector<double>> medians(const std::vector<std::vector<std::vector<double>>>& samples) {
  std::vector<std::vector<double>> result;
  for (const auto& query : samples) {
    result.emplace_back();
    for (const std::vector<double>& sample : query) {
      result.back().push_back(sample.empty() ? std::numeric_limits<double>::quiet_NaN() : median(sample));
    }
  }
  return result;
}

/// Every query once, answers checked against each other.
void check(Measurement& m, const std::vector<std::optional<std::size_t>>& peers, const FclPeer& fcl,
           ScalingQueries& support, ScalingQueries& conic) {
  for (std::size_t i = 0; i < m.set.pairs.size(); ++i) {
    const Pair& pair = m.set.pairs[i];
    const Scaling result = conic.alpha(pair);
    const Scaling other = support.alpha(pair);
    m.routes_differ += !(std::abs(other.alpha - result.alpha) <= 2.0 * kTolerance * result.alpha);
    keep(support.gradient());
    keep(conic.gradient());
    keep(conic.jacobian());
    m.not_solved += result.status != ScalingStatus::solved;
    m.penetrating += result.alpha < 1.0;
    if (peers[i]) {
      keep(fcl.distance(*peers[i]));
      m.signs_agree += (fcl.signed_distance(*peers[i]) < 0.0) == (result.alpha < 1.0);
    }
  }
}

/// So many that what the queries read of a group's pairs mostly stays in the cache.
constexpr std::size_t kSmallGroups = 10;

/// The pairs in `num_groups` groups, one after the other.
Measurement measure(int passes, std::size_t num_groups) {
  Measurement m{make_pair_set(), passes, 0.0, {}, {}, {}};
  FclPeer fcl;
  std::vector<std::optional<std::size_t>> peers;
  for (const Pair& pair : m.set.pairs) {
    peers.push_back(fcl.add(pair.A, pair.X_WA, pair.B, pair.X_WB));
    m.in_fcl.push_back(peers.back().has_value());
  }
  ScalingQueries support(kTolerance, ScalingMethod::support);
  ScalingQueries conic(kTolerance, ScalingMethod::conic);
  DistanceQueries distances;
  const std::vector<Pair>& pairs = m.set.pairs;
  check(m, peers, fcl, support, conic);
  m.fallbacks = support.num_fallbacks();

  const CallTimer timer;
  m.timer_overhead_ns = timer.overhead_ns();
  using Samples = std::vector<std::vector<std::vector<double>>>;  // [query][pair][pass]
  Samples total(kNumQueries, std::vector<std::vector<double>>(pairs.size()));
  Samples extra(kNumQueries, std::vector<std::vector<double>>(pairs.size()));
  const auto time = [&](std::size_t query, std::size_t i) {
    if (query >= fcl_distance && !peers[i]) return;
    CallTimer::Split ns{};
    const auto alpha = [&] { keep(conic.alpha(pairs[i])); };
    const auto by_supports = [&] { keep(support.alpha(pairs[i])); };
    switch (query) {
      case support_alpha:
        ns.total = timer(by_supports);
        break;
      case support_alpha_gradient:
        ns = timer.split(by_supports, [&] { keep(support.gradient()); });
        break;
      case signed_distance:
        ns.total = timer([&] { keep(distances.signed_distance(pairs[i])); });
        break;
      case conic_alpha:
        ns.total = timer(alpha);
        break;
      case conic_alpha_gradient:
        ns = timer.split(alpha, [&] { keep(conic.gradient()); });
        break;
      case conic_jacobian:
        ns = timer.split(alpha, [&] { keep(conic.jacobian()); });
        break;
      case fcl_distance:
        ns.total = timer([&] { keep(fcl.distance(*peers[i])); });
        break;
      default:
        ns.total = timer([&] { keep(fcl.signed_distance(*peers[i])); });
        break;
    }
    total[query][i].push_back(ns.total);
    extra[query][i].push_back(ns.second);
  };

  // combinations follow each other in the set: every group gets its part of each
  std::vector<std::size_t> queries(kNumQueries);
  std::iota(queries.begin(), queries.end(), std::size_t{0});
  Random random(2);
  for (std::size_t group = 0; group < num_groups; ++group) {
    std::vector<std::size_t> order;
    for (std::size_t i = group; i < pairs.size(); i += num_groups) order.push_back(i);
    for (int pass = 0; pass < passes; ++pass) {
      shuffle(queries, random);
      for (const std::size_t query : queries) {
        shuffle(order, random);
        for (const std::size_t i : order) time(query, i);
      }
    }
  }
  m.times = medians(total);
  m.extra = medians(extra);
  return m;
}

/// Statistics of a query over the pairs of one combination (all for -1), or of those that FCL can do.
Statistics over_pairs(const Measurement& m, Query query, int combination = -1, bool fcl_only = false) {
  std::vector<double> sample;
  for (std::size_t i = 0; i < m.set.pairs.size(); ++i) {
    if (combination >= 0 && m.set.pairs[i].combination != combination) continue;
    if ((fcl_only || query >= fcl_distance) && !m.in_fcl[i]) continue;
    sample.push_back(m.times[query][i]);
  }
  return statistics(std::move(sample));
}

/// Time that the gradient or the Jacobian adds to alpha.
Statistics extra(const Measurement& m, Query query) { return statistics(m.extra[query]); }

void print_ratio(const char* where, const Measurement& m) {
  const Statistics ours = over_pairs(m, support_alpha);
  const Statistics ours_in_fcl = over_pairs(m, support_alpha, -1, true);
  const Statistics fcl = over_pairs(m, fcl_distance);
  std::printf("support alpha / FCL distance, %s: median %.2f, mean %.2f; on FCL's 36 combinations %.2f, %.2f\n", where,
              ours.median / fcl.median, ours.mean / fcl.mean, ours_in_fcl.median / fcl.median,
              ours_in_fcl.mean / fcl.mean);
}

/// The figures of small groups, beside those of all pairs at once.
void print_groups(const Measurement& m) {
  std::printf("\nin %zu groups of pairs, which mostly stay in the cache: median / mean / p99\n", kSmallGroups);
  for (const auto& [label, query] :
       {std::pair{"support alpha", support_alpha}, std::pair{"signed distance", signed_distance},
        std::pair{"conic alpha", conic_alpha}, std::pair{"FCL distance", fcl_distance},
        std::pair{"FCL signed distance", fcl_signed_distance}}) {
    const Statistics s = over_pairs(m, query);
    std::printf("  %-28s %8.0f %8.0f %8.0f\n", label, s.median, s.mean, s.p99);
  }
  print_ratio("in small groups", m);
}

void print_orientation() {
  std::printf("\nfor orientation, on other machines (median / mean / p99):\n");
  std::printf("  DCOL paper, Table I, tolerance 1e-6                5000 to 9400 (means per shape)\n");
  std::printf("  trial of ours (Zen 4), conic alpha at 1e-8         2388 / 2523 / 5350\n");
  std::printf("  the same machine, FCL distance                     1019 / 1129 / 3120\n");
  std::printf("  the same machine, FCL signed distance              1432 / 8200 / 102400\n");
}

void print_table(const Measurement& m) {
  std::printf(
      "45 combinations x 100 pairs, %.0f %% overlapping, %d passes in shuffled order, one call a time; nanoseconds\n",
      100.0 * m.penetrating / static_cast<double>(m.set.pairs.size()), m.passes);
  std::printf("both routes at tolerance %.0e, cold; FCL 0.7 at its default tolerance 1e-6, without nearest points\n",
              kTolerance);
  std::printf("timer overhead %.0f ns, subtracted\n\n", m.timer_overhead_ns);

  std::printf("%-30s %8s %8s %8s | %8s %8s %8s | %8s %8s | %s\n", "median per combination", "support", "+grad",
              "distance", "conic", "+grad", "+Jac", "FCL", "FCL sgn", "support / FCL");
  for (std::size_t c = 0; c < m.set.combinations.size(); ++c) {
    const int combination = static_cast<int>(c);
    std::printf("%-30s", m.set.combinations[c].c_str());
    for (int q = support_alpha; q <= conic_jacobian; ++q)
      std::printf("%s %8.0f", q == conic_alpha ? " |" : "", over_pairs(m, static_cast<Query>(q), combination).median);
    const Statistics peer = over_pairs(m, fcl_distance, combination);
    if (peer.count == 0) {
      std::printf(" | %8s %8s |\n", "-", "-");
    } else {
      std::printf(" | %8.0f %8.0f | %.2f\n", peer.median, over_pairs(m, fcl_signed_distance, combination).median,
                  over_pairs(m, support_alpha, combination).median / peer.median);
    }
  }

  std::printf("\n%-30s %8s %8s %8s\n", "all pairs", "median", "mean", "p99");
  constexpr const char* labels[] = {"support alpha",           "support alpha + gradient",
                                    "signed distance",         "conic alpha",
                                    "conic alpha + gradient",  "conic alpha + 4x12 Jacobian",
                                    "FCL distance (36 comb.)", "FCL signed distance (36 comb.)"};
  static_assert(std::size(labels) == kNumQueries && std::size(kQueryNames) == kNumQueries);
  for (int q = 0; q < kNumQueries; ++q) {
    const Statistics s = over_pairs(m, static_cast<Query>(q));
    std::printf("%-30s %8.0f %8.0f %8.0f\n", labels[q], s.median, s.mean, s.p99);
  }
  const Statistics support_gradient = extra(m, support_alpha_gradient);
  const Statistics gradient = extra(m, conic_alpha_gradient);
  const Statistics jacobian = extra(m, conic_jacobian);
  std::printf("%-30s %8.0f %8.0f %8.0f\n", "  gradient, support route", support_gradient.median, support_gradient.mean,
              support_gradient.p99);
  std::printf("%-30s %8.0f %8.0f %8.0f\n", "  gradient, conic route", gradient.median, gradient.mean, gradient.p99);
  std::printf("%-30s %8.0f %8.0f %8.0f\n", "  Jacobian, conic route", jacobian.median, jacobian.mean, jacobian.p99);

  std::printf("\n");
  print_ratio("all pairs at once", m);
  const Statistics depth = over_pairs(m, signed_distance);
  const Statistics fcl_depth = over_pairs(m, fcl_signed_distance);
  std::printf("FCL signed distance / signed distance: median %.1f, mean %.1f\n", fcl_depth.median / depth.median,
              fcl_depth.mean / depth.mean);
  std::printf("routes differ by more than their tolerances on %d pairs; %ld of %zu answers left to the conic route\n",
              m.routes_differ, m.fallbacks, m.set.pairs.size());
  std::printf(
      "conic alpha / FCL distance, medians: %.2f over all pairs, %.2f over the 36 combinations that FCL has (no "
      "padded polygon)\n",
      over_pairs(m, conic_alpha).median / over_pairs(m, fcl_distance).median,
      over_pairs(m, conic_alpha, -1, true).median / over_pairs(m, fcl_distance).median);
  std::printf("conic alpha / FCL signed distance, medians: %.2f; means: %.2f\n",
              over_pairs(m, conic_alpha).median / over_pairs(m, fcl_signed_distance).median,
              over_pairs(m, conic_alpha).mean / over_pairs(m, fcl_signed_distance).mean);
  const Statistics peer = over_pairs(m, fcl_distance);
  std::printf("alpha < 1 and the sign of FCL's distance agree on %d of %zu pairs; %d pairs not solved\n", m.signs_agree,
              peer.count, m.not_solved);
}

nlohmann::ordered_json to_json(const Statistics& s) {
  return {{"pairs", s.count}, {"median_ns", s.median}, {"mean_ns", s.mean}, {"p99_ns", s.p99}};
}

nlohmann::ordered_json to_json(const Measurement& m) {
  nlohmann::ordered_json queries;
  for (int q = 0; q < kNumQueries; ++q) {
    const Query query = static_cast<Query>(q);
    nlohmann::ordered_json entry = to_json(over_pairs(m, query));
    if (query < fcl_distance) entry["on_fcl_combinations"] = to_json(over_pairs(m, query, -1, true));
    if (query == support_alpha_gradient || query == conic_alpha_gradient || query == conic_jacobian)
      entry["extra_over_alpha"] = to_json(extra(m, query));
    for (std::size_t c = 0; c < m.set.combinations.size(); ++c) {
      const Statistics s = over_pairs(m, query, static_cast<int>(c));
      if (s.count > 0) entry["combinations"][m.set.combinations[c]] = to_json(s);
    }
    queries[kQueryNames[q]] = entry;
  }
  const double peer = over_pairs(m, fcl_distance).median;
  return {{"set", "45 combinations x 100 pairs, seed " + std::to_string(m.set.seed)},
          {"pairs", m.set.pairs.size()},
          {"passes", m.passes},
          {"tolerance", kTolerance},
          {"penetrating", m.penetrating},
          {"not_solved", m.not_solved},
          {"routes_differ", m.routes_differ},
          {"fallbacks", m.fallbacks},
          {"signs_agree_with_fcl", m.signs_agree},
          {"ratio_to_fcl_distance",
           {{"all_pairs", over_pairs(m, conic_alpha).median / peer},
            {"on_fcl_combinations", over_pairs(m, conic_alpha, -1, true).median / peer}}},
          {"queries", queries}};
}

[[noreturn]] void usage(int code) {
  (code == 0 ? std::cout : std::cerr)
      << "bench_pairs [--passes n] [--json]\n"
         "Times the scaling query by both routes (alpha, gradient, Jacobian) and FCL's distance on the same 4500 "
         "pairs.\n"
         "  --passes n   timed visits of every pair (default 21, at least 7 for figures worth quoting)\n"
         "  --json       one JSON object instead of tables\n";
  std::exit(code);
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") usage(0);
    if (argument == "--json") {
      arguments.json = true;
    } else if (argument == "--passes" && i + 1 < argc) {
      arguments.passes = std::atoi(argv[++i]);
      if (arguments.passes < 1) usage(2);
    } else {
      usage(2);
    }
  }
  return arguments;
}

}  // namespace
}  // namespace tangere::bench

int main(int argc, char** argv) {
  using namespace tangere::bench;
  const Arguments arguments = parse(argc, argv);
  const Measurement at_once = measure(arguments.passes, 1);
  const Measurement in_groups = measure(arguments.passes, kSmallGroups);
  if (arguments.json) {
    nlohmann::ordered_json all = to_json(at_once);
    all["in_small_groups"] = to_json(in_groups);
    std::cout << all.dump() << "\n";
  } else {
    print_table(at_once);
    print_groups(in_groups);
    print_orientation();
  }
  return 0;
}
