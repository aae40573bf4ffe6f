#include "tangere/proximity/batch.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere {
namespace {

/// Pairs are handed out in runs of this many.
constexpr std::size_t kRun = 32;

/// The memory of one thread.
struct Worker {
  ScalingWorkspace scaling;
  DistanceWorkspace distance;
  /// The first pair that was refused, and why.
  std::size_t refused = 0;
  std::string field;
  std::string reason;
  bool has_error = false;
};

}  // namespace

struct BatchWorkspace::Data {
  using Job = std::function<void(std::size_t, Worker&)>;

  std::vector<Worker> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  const Job* job = nullptr;
  std::size_t count = 0;
  std::atomic<std::size_t> next = 0;
  long generation = 0;
  int busy = 0;
  bool stopping = false;
  std::vector<std::jthread> threads;

  explicit Data(int num_threads) : workers(static_cast<std::size_t>(num_threads)) {
    for (int i = 1; i < num_threads; ++i)
      threads.emplace_back([this, i] { wait_for_work(workers[static_cast<std::size_t>(i)]); });
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
    for (std::size_t first = next.fetch_add(kRun); first < count; first = next.fetch_add(kRun)) {
      for (std::size_t i = first; i < std::min(first + kRun, count); ++i) {
        try {
          (*job)(i, worker);
        } catch (const InputError& error) {
          if (worker.has_error && worker.refused < i) continue;
          worker.has_error = true;
          worker.refused = i;
          worker.field = error.field();
          worker.reason = error.reason();
        }
      }
    }
  }

  void run(std::size_t num_items, const Job& new_job) {
    for (Worker& worker : workers) worker.has_error = false;
    {
      const std::lock_guard lock(mutex);
      job = &new_job;
      count = num_items;
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

BatchWorkspace::BatchWorkspace(int num_threads) {
  if (num_threads < 0 || num_threads > 4096)
    throw InputError("num_threads", "must be between 0 and 4096, got " + std::to_string(num_threads));
  if (num_threads == 0) num_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  data_ = std::make_unique<Data>(num_threads);
}
BatchWorkspace::~BatchWorkspace() = default;
BatchWorkspace::BatchWorkspace(BatchWorkspace&&) noexcept = default;
BatchWorkspace& BatchWorkspace::operator=(BatchWorkspace&&) noexcept = default;

int BatchWorkspace::num_threads() const { return static_cast<int>(data_->workers.size()); }

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

void scaling_batch(std::span<const PosedPair> pairs, const ScalingOptions& options, std::span<Scaling> results,
                   BatchWorkspace& workspace, std::span<Vector12> gradients) {
  options.verify();
  require_sizes(pairs.size(), results.size(), gradients.size());
  workspace.data().run(pairs.size(), [&](std::size_t i, Worker& worker) {
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
  workspace.data().run(pairs.size(), [&](std::size_t i, Worker& worker) {
    const PosedPair& pair = pairs[i];
    require_shapes(pair);
    results[i] = distance(*pair.A, pair.X_WA, *pair.B, pair.X_WB, options, worker.distance);
    if (!gradients.empty()) gradients[i] = distance_gradient(worker.distance);
  });
}

}  // namespace tangere
