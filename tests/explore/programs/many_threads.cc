// SPDX-License-Identifier: Apache-2.0
//
// As many threads as the argument says, all alive at once.
//
// EXPECT-NO-FAILURE
// WITHIN: 20
// RUN-ARGS: 100
// RUN-ARGS: 1000
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

std::mutex lock;
std::condition_variable all_here;
int here = 0;

int main(int count, char** arguments) {
  int threads = count > 1 ? std::atoi(arguments[1]) : 100;
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back([threads] {
      std::unique_lock guard(lock);
      if (++here == threads) all_here.notify_all();
      all_here.wait(guard, [threads] { return here == threads; });
    });
  }
  for (std::thread& thread : pool) thread.join();
  assert(here == threads);
}
