#include "tangere/math/task_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tangere/math/error.hpp"

namespace tangere {

struct TaskPool::Data {
  using Task = std::function<void(int, int)>;

  std::mutex one_at_a_time;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  const Task* task = nullptr;
  int num_items = 0;
  int run_length = 1;
  std::atomic<int> next = 0;
  long generation = 0;
  int busy = 0;
  bool stopping = false;
  int failed_item = 0;
  std::exception_ptr failure;
  const pid_t process = getpid();
  std::vector<std::thread> threads;

  void wait_for_work(int thread) {
    long seen = 0;
    while (true) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stopping || generation != seen; });
        if (stopping) return;
        seen = generation;
      }
      work(thread);
      const std::lock_guard lock(mutex);
      if (--busy == 0) done.notify_one();
    }
  }

  void work(int thread) {
    for (int first = next.fetch_add(run_length); first < num_items; first = next.fetch_add(run_length)) {
      const int last = first > num_items - run_length ? num_items : first + run_length;
      for (int item = first; item < last; ++item) {
        try {
          (*task)(item, thread);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (failure != nullptr && failed_item < item) continue;
          failed_item = item;
          failure = std::current_exception();
        }
      }
    }
  }
};

TaskPool::TaskPool(int num_threads) : data_(std::make_unique<Data>()) {
  if (num_threads < 0 || num_threads > 1024)
    throw InputError("num_threads", "must be from 0 to 1024, got " + std::to_string(num_threads));
  const int count = num_threads > 0 ? num_threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (int i = 1; i < count; ++i) data_->threads.emplace_back([data = data_.get(), i] { data->wait_for_work(i); });
}

TaskPool::~TaskPool() {
  if (getpid() != data_->process) {
    // the threads stayed in the other process: what waits for them is left as it is
    (void)data_.release();
    return;
  }
  {
    const std::lock_guard lock(data_->mutex);
    data_->stopping = true;
  }
  data_->wake.notify_all();
  for (std::thread& thread : data_->threads) thread.join();
}

int TaskPool::num_threads() const { return static_cast<int>(data_->threads.size()) + 1; }

void TaskPool::run(int num_items, int run_length, const std::function<void(int, int)>& task) {
  if (num_items <= 0) return;
  Data& d = *data_;
  if (getpid() != d.process) {
    for (int item = 0; item < num_items; ++item) task(item, 0);
    return;
  }
  const std::lock_guard only(d.one_at_a_time);
  const bool alone = d.threads.empty() || num_items <= run_length;
  {
    const std::lock_guard lock(d.mutex);
    d.task = &task;
    d.num_items = num_items;
    // threads take runs at once, beyond the last too: room for that below the largest int
    d.run_length = std::max(1, run_length);
    d.next = 0;
    d.failure = nullptr;
    if (!alone) {
      d.busy = static_cast<int>(d.threads.size());
      ++d.generation;
    }
  }
  if (!alone) d.wake.notify_all();
  d.work(0);
  if (!alone) {
    std::unique_lock lock(d.mutex);
    d.done.wait(lock, [&] { return d.busy == 0; });
  }
  if (d.failure != nullptr) std::rethrow_exception(std::exchange(d.failure, nullptr));
}

}  // namespace tangere
