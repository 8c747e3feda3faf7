// SPDX-License-Identifier: Apache-2.0
//
// Both writes are atomic, so there is no data race; but the program says that there is one writer.
//
// EXPECT-RACE: counter
// OTHER-TOOLS: differ (they do not know this assertion)
#include <duress/annotate.h>

#include <atomic>
#include <thread>

#include "invisible_barrier.h"

std::atomic<int> counter{0};
int asserted = 0;

int main() {
  std::thread owner([] {
    DURESS_ASSERT_EXCLUSIVE_WRITER(counter);
    counter.store(1, std::memory_order_relaxed);
    invisible_signal(&asserted);
  });
  std::thread other([] {
    invisible_wait(&asserted, 1);
    counter.store(2, std::memory_order_relaxed);
  });
  owner.join();
  other.join();
  return 0;
}
