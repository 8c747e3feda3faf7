// SPDX-License-Identifier: Apache-2.0
//
// Tasks that make tasks, and an exception that leaves the wait: what they did is read after it, or before.
//
// WRONG: *value*
#include <tbb/task_group.h>

#include <cstdio>

#include "teamwork.h"

static int value, other_value;
static std::atomic<int> arrived;

int main() {
  with_two_threads([] {
    tbb::task_group group;
    group.run([&] {
      meet(arrived);
      value = 1;
      group.run([] { other_value = 2; });
    });
    group.run([] { meet(arrived, 2); });
#ifdef WRONG
    while (arrived.load(std::memory_order_relaxed) < 1) std::this_thread::yield();
    value++;
#endif
    group.wait();
    value++;
    group.run([] {
      other_value++;
      throw 1;
    });
    try {
      group.wait();
    } catch (int) {
      other_value++;
    }
  });
  std::printf("%d\n", value + other_value);
}
