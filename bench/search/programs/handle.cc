// SPDX-License-Identifier: Apache-2.0
//
// A thread uses what its creator stores after it has created it; the creator is rarely that slow.
//
// BUG handle_late: -DHELPERS=0
// BUG handle_late_8: -DHELPERS=8
#include "parallel.h"

static std::atomic<int> handle;
static std::atomic<int> busy;

int main() {
  std::thread user([] {
    for (int i = 0; i < 5; ++i) ++busy;
    assert(handle != 0);
  });
  in_parallel_each(HELPERS, [](int) { ++busy; });
  handle = 1;
  user.join();
}
