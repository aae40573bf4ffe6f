#pragma once

/// Time of a single short call: the processor's cycle counter between fences on x86, steady_clock elsewhere, less the
/// time that the two readings themselves take.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tangere::bench {

class CallTimer {
 public:
  CallTimer() {
    calibrate_rate();
    calibrate_overhead();
  }

  /// Nanoseconds of one call of f, at least zero.
  template <class F>
  [[nodiscard]] double operator()(F&& f) const {
    const std::uint64_t start = begin();
    f();
    const std::uint64_t stop = end();
    return std::max(0.0, static_cast<double>(stop - start) * ns_per_tick_ - overhead_ns_);
  }

  /// Nanoseconds of a call of f and then g, and of g alone, which is an upper bound of what g adds: the reading between
  /// the two keeps the processor from working on both at once.
  struct Split {
    double total;
    double second;
  };
  template <class F, class G>
  [[nodiscard]] Split split(F&& f, G&& g) const {
    const std::uint64_t start = begin();
    f();
    const std::uint64_t middle = end();
    g();
    const std::uint64_t stop = end();
    // begin() has one fence more than end(), so the empty second part is a little shorter than the empty call
    return {std::max(0.0, static_cast<double>(stop - start) * ns_per_tick_ - overhead_ns_ - reading_ns_),
            std::max(0.0, static_cast<double>(stop - middle) * ns_per_tick_ - reading_ns_)};
  }

  [[nodiscard]] double overhead_ns() const { return overhead_ns_; }

 private:
#if defined(__x86_64__)
  static std::uint64_t begin() {
    _mm_lfence();
    const std::uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
  }
  static std::uint64_t end() {
    unsigned int processor;
    const std::uint64_t ticks = __rdtscp(&processor);
    _mm_lfence();
    return ticks;
  }
  void calibrate_rate() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point t0 = Clock::now();
    const std::uint64_t ticks0 = begin();
    while (Clock::now() - t0 < std::chrono::milliseconds(50)) {
    }
    const std::uint64_t ticks1 = end();
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - t0;
    ns_per_tick_ = elapsed.count() / static_cast<double>(ticks1 - ticks0);
  }
#else
  static std::uint64_t begin() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
  }
  static std::uint64_t end() { return begin(); }
  void calibrate_rate() { ns_per_tick_ = 1.0; }
#endif

  void calibrate_overhead() {
    std::vector<double> call(10001);
    std::vector<double> second(10001);
    for (double& t : call) t = (*this)([] {});
    for (double& t : second) t = split([] {}, [] {}).second;
    std::nth_element(call.begin(), call.begin() + 5000, call.end());
    std::nth_element(second.begin(), second.begin() + 5000, second.end());
    overhead_ns_ = call[5000];
    reading_ns_ = second[5000];
  }

  double ns_per_tick_ = 1.0;
  /// An empty call, and an empty second part.
  double overhead_ns_ = 0.0;
  double reading_ns_ = 0.0;
};

/// Keeps the compiler from dropping a result.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace tangere::bench
