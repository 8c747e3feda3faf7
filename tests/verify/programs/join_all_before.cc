// SPDX-License-Identifier: Apache-2.0
//
// Two threads are joined by a loop, after what both have added up was printed. The lock is theirs: that it is
// held at the other accesses too is proposed first, unless it cannot be: the assertion needs both to be done.
//
// EXPECT-VERIFY: 2 race sum
// EXPECT-VERIFY: 2 failure assertion
// VERIFY-FIX: join threads before join_all_before.cc:
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

std::mutex lock;
int sum = 0;

int main() {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 2; ++i) {
    threads.emplace_back([i] {
      std::lock_guard guard(lock);
      sum += i;
    });
  }
  assert(sum == 3);
  for (auto& t : threads) t.join();
}
