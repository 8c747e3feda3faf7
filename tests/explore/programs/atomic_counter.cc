// SPDX-License-Identifier: Apache-2.0
//
// A counter that needs no lock; prints what it counted, which must be the same in every run.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

int main() {
  std::atomic<int> count{0};
  auto work = [&] {
    for (int i = 0; i < 5; ++i) count.fetch_add(1, std::memory_order_relaxed);
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  std::printf("counted %d\n", count.load());
  assert(count == 10);
}
