#include "tangere/proximity/batch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/proximity/batch/internal/conic_batch.hpp"
#include "tangere/proximity/distance/internal/distance_workspace.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere {
namespace {

/// Work is handed out in runs of this many pairs or groups of pairs.
constexpr std::size_t kRun = 32;
constexpr std::size_t kRunOfGroups = 4;
/// Looks at pairs ask for memory some way ahead.
constexpr std::size_t kRunOfPlan = 256;

/// The memory of one thread.
struct Worker {
  // gradients are taken while the shapes exist
  Worker() {
    scaling.data().owner.turn_off();
    distance.data().owner.turn_off();
  }

  ScalingWorkspace scaling;
  DistanceWorkspace distance;
  LaneSolver lanes;
  /// Pairs tried in lanes, and given up there.
  long num_tried = 0;
  long num_given_up = 0;
  /// The pair at work.
  std::size_t pair = 0;
  /// The first pair that was refused, and why.
  std::size_t refused = 0;
  std::string field;
  std::string reason;
  bool has_error = false;
};

}  // namespace

struct BatchWorkspace::Data {
  /// The work per item: a function and its captures.
  struct Job {
    void (*call)(const void* function, std::size_t item, Worker& worker);
    const void* function;
  };

  std::vector<Worker> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  Job job{};
  std::size_t count = 0;
  std::size_t run_length = kRun;
  std::atomic<std::size_t> next = 0;
  long generation = 0;
  int busy = 0;
  bool stopping = false;
  LanePlan plan;
  std::vector<std::jthread> threads;

  explicit Data(int num_threads) : workers(static_cast<std::size_t>(num_threads)) {
    for (int i = 1; i < num_threads; ++i) threads.emplace_back([this, i] { wait_for_work(workers[i]); });
  }
  ~Data() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  void wait_for_work(Worker& worker) {
    long seen = 0;
    while (true) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stopping || generation != seen; });
        if (stopping) return;
        seen = generation;
      }
      work(worker);
      const std::lock_guard lock(mutex);
      if (--busy == 0) done.notify_one();
    }
  }

  void work(Worker& worker) {
    for (std::size_t first = next.fetch_add(run_length); first < count; first = next.fetch_add(run_length)) {
      for (std::size_t i = first; i < std::min(first + run_length, count); ++i) {
        try {
          worker.pair = i;
          job.call(job.function, i, worker);
        } catch (const InputError& error) {
          if (worker.has_error && worker.refused < worker.pair) continue;
          worker.has_error = true;
          worker.refused = worker.pair;
          worker.field = error.field();
          worker.reason = error.reason();
        }
      }
    }
  }

  /// Calls function(item, worker) for every item. `worker.pair` is the item unless the function says otherwise.
  template <class F>
  void run(std::size_t num_items, std::size_t items_a_run, const F& function) {
    for (Worker& worker : workers) worker.has_error = false;
    {
      const std::lock_guard lock(mutex);
      job = {[](const void* f, std::size_t item, Worker& worker) { (*static_cast<const F*>(f))(item, worker); },
             &function};
      count = num_items;
      run_length = items_a_run;
      next = 0;
      busy = static_cast<int>(threads.size());
      ++generation;
    }
    wake.notify_all();
    work(workers.front());
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return busy == 0; });
    lock.unlock();
    const Worker* first = nullptr;
    for (const Worker& worker : workers) {
      if (worker.has_error && (first == nullptr || worker.refused < first->refused)) first = &worker;
    }
    if (first != nullptr)
      throw InputError("pairs[" + std::to_string(first->refused) + "]." + first->field, first->reason);
  }
};

BatchWorkspace::BatchWorkspace(int num_threads) : data_("BatchWorkspace", nullptr) {
  if (num_threads < 0 || num_threads > 4096)
    throw InputError("num_threads", "must be between 0 and 4096, got " + std::to_string(num_threads));
  if (num_threads == 0) num_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  data_ = Owned("BatchWorkspace", std::make_unique<Data>(num_threads));
}
BatchWorkspace::~BatchWorkspace() = default;
BatchWorkspace::BatchWorkspace(BatchWorkspace&&) noexcept = default;
BatchWorkspace& BatchWorkspace::operator=(BatchWorkspace&&) noexcept = default;

int BatchWorkspace::num_threads() const { return static_cast<int>(data_->workers.size()); }
long BatchWorkspace::num_in_lanes() const {
  long total = 0;
  for (const Worker& worker : data_->workers) total += worker.num_tried - worker.num_given_up;
  return total;
}
long BatchWorkspace::num_lane_fallbacks() const {
  long total = 0;
  for (const Worker& worker : data_->workers) total += worker.num_given_up;
  return total;
}

namespace {

void require_sizes(std::size_t pairs, std::size_t results, std::size_t gradients) {
  if (results != pairs)
    throw InputError("results",
                     "must have one entry a pair (" + std::to_string(pairs) + "), has " + std::to_string(results));
  if (gradients != 0 && gradients != pairs)
    throw InputError("gradients", "must be empty or have one entry a pair (" + std::to_string(pairs) + "), has " +
                                      std::to_string(gradients));
}

void require_shapes(const PosedPair& pair) {
  if (pair.A == nullptr) throw InputError("A", "must not be null");
  if (pair.B == nullptr) throw InputError("B", "must not be null");
}

}  // namespace

namespace {

/// The conic route: groups of pairs in lanes, then the pairs that are not for lanes.
void conic_batch(std::span<const PosedPair> pairs, const ScalingOptions& options, std::span<Scaling> results,
                 BatchWorkspace::Data& data, std::span<Vector12> gradients) {
  data.plan.begin(pairs.size());
  data.run(pairs.size(), kRunOfPlan, [&](std::size_t i, Worker&) { data.plan.look_at(pairs, i, options.smoothing); });
  data.plan.finish();
  for (Worker& worker : data.workers) worker.lanes.reserve(data.plan);
  const auto single = [&](std::size_t i, Worker& worker) {
    worker.pair = i;
    const PosedPair& pair = pairs[i];
    require_shapes(pair);
    results[i] = scaling(*pair.A, pair.X_WA, *pair.B, pair.X_WB, options, worker.scaling);
    if (!gradients.empty()) gradients[i] = scaling_gradient(worker.scaling);
  };
  const std::span<const LanePlan::Group> groups = data.plan.groups();
  const std::span<const std::size_t> singles = data.plan.singles();
  data.run(groups.size() + singles.size(), kRunOfGroups, [&](std::size_t item, Worker& worker) {
    if (item >= groups.size()) return single(singles[item - groups.size()], worker);
    const LanePlan::Group& group = groups[item];
    data.plan.prefetch(item, pairs, results);
    unsigned tried = 0;
    const unsigned answered = worker.lanes.solve(data.plan, group, pairs, options, results, gradients, tried);
    worker.num_tried += std::popcount(tried);
    worker.num_given_up += std::popcount(tried & ~answered);
    for (int l = 0; l < group.count; ++l) {
      if ((answered >> static_cast<unsigned>(l) & 1U) == 0) single(data.plan.entry(group, l).index, worker);
    }
  });
}

}  // namespace

void scaling_batch(std::span<const PosedPair> pairs, const ScalingOptions& options, std::span<Scaling> results,
                   BatchWorkspace& workspace, std::span<Vector12> gradients) {
  options.verify();
  require_sizes(pairs.size(), results.size(), gradients.size());
  if (options.method == ScalingMethod::conic || options.smoothing > 0.0)
    return conic_batch(pairs, options, results, workspace.data(), gradients);
  workspace.data().run(pairs.size(), kRun, [&](std::size_t i, Worker& worker) {
    const PosedPair& pair = pairs[i];
    require_shapes(pair);
    results[i] = scaling(*pair.A, pair.X_WA, *pair.B, pair.X_WB, options, worker.scaling);
    if (!gradients.empty()) gradients[i] = scaling_gradient(worker.scaling);
  });
}

void distance_batch(std::span<const PosedPair> pairs, const DistanceOptions& options, std::span<Distance> results,
                    BatchWorkspace& workspace, std::span<Vector12> gradients) {
  options.verify();
  require_sizes(pairs.size(), results.size(), gradients.size());
  workspace.data().run(pairs.size(), kRun, [&](std::size_t i, Worker& worker) {
    const PosedPair& pair = pairs[i];
    require_shapes(pair);
    results[i] = distance(*pair.A, pair.X_WA, *pair.B, pair.X_WB, options, worker.distance);
    if (!gradients.empty()) gradients[i] = distance_gradient(worker.distance);
  });
}

}  // namespace tangere
