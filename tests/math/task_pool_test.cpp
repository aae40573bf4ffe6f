#include "tangere/math/task_pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

TEST(TaskPool, DoesEveryItemOnce) {
  for (const int threads : {1, 2, 5}) {
    TaskPool pool(threads);
    EXPECT_EQ(pool.num_threads(), threads);
    for (const int items : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> count(static_cast<std::size_t>(items));
      pool.run(items, 3, [&](int item, int thread) {
        EXPECT_GE(thread, 0);
        EXPECT_LT(thread, threads);
        ++count[item];
      });
      for (const auto& c : count) EXPECT_EQ(c, 1);
    }
  }
}

TEST(TaskPool, ThrowsWhatTheLowestItemThrewAfterAllOthers) {
  TaskPool pool(3);
  std::atomic<int> done = 0;
  try {
    pool.run(100, 1, [&](int item, int) {
      if (item % 30 == 20) throw std::runtime_error(std::to_string(item));
      ++done;
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "20");
  }
  EXPECT_EQ(done, 97);
  pool.run(10, 1, [&](int, int) { ++done; });
  EXPECT_EQ(done, 107);
}

TEST(TaskPool, WorksInAForkedProcess) {
  TaskPool pool(2);
  const pid_t child = fork();
  if (child == 0) {
    int sum = 0;
    pool.run(10, 1, [&](int item, int) { sum += item; });
    _exit(sum == 45 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(TaskPool, RefusesNegativeNumbersOfThreads) { EXPECT_THROW(TaskPool pool(-1), InputError); }

}  // namespace
}  // namespace tangere
