#pragma once

/// Threads that wait for work: the items of a loop, handed out in runs. Which thread does an item is not fixed, so what
/// an item does must depend on the item alone (and use the thread's number only to choose scratch memory).
///
///   TaskPool pool(8);
///   pool.run(items.size(), 16, [&](int item, int thread) { … });

#include <functional>
#include <memory>

namespace tangere {

class TaskPool {
 public:
  /// 0: as many threads as the machine has. The calling thread is one of them. Throws InputError below 0 and above
  /// 1024.
  explicit TaskPool(int num_threads = 0);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  [[nodiscard]] int num_threads() const;

  /// Calls task(item, thread) for every item, `run_length` in a row by one thread; one call of `run` at a time. An
  /// exception ends its item only: all others are done, then that of the lowest item is thrown. In a process that was
  /// forked after the pool was made, where its threads are gone, the calling thread does all of it.
  void run(int num_items, int run_length, const std::function<void(int item, int thread)>& task);

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere
