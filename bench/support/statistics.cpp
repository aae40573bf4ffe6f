#include "bench/support/statistics.hpp"

#include <algorithm>
#include <numeric>

namespace tangere::bench {

Statistics statistics(std::vector<double> sample) {
  if (sample.empty()) return {};
  std::sort(sample.begin(), sample.end());
  const std::size_t n = sample.size();
  return {.count = n,
          .median = sample[n / 2],
          .mean = std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(n),
          .p99 = sample[std::min(n - 1, n * 99 / 100)]};
}

double median(std::vector<double> sample) { return statistics(std::move(sample)).median; }

}  // namespace tangere::bench
