#pragma once

/// Median, mean and 99th percentile of a sample.

#include <cstddef>
#include <vector>

namespace tangere::bench {

struct Statistics {
  std::size_t count = 0;
  double median = 0.0;
  double mean = 0.0;
  double p99 = 0.0;
};

[[nodiscard]] Statistics statistics(std::vector<double> sample);

/// The middle value (the upper one of an even number).
[[nodiscard]] double median(std::vector<double> sample);

}  // namespace tangere::bench
