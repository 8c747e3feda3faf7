// SPDX-License-Identifier: Apache-2.0
//
// A plain atomic store by another thread ends the release sequence; an rmw would have continued it.
//
// EXPECT-RACE: data write-read
// OTHER-TOOLS: differ (ThreadSanitizer lets any store continue the sequence)
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

int data = 0;
std::atomic<int> flag = 0;
int step = 0;

int main() {
  int seen = 0;
  std::thread head([] {
    invisible_start(3);
    data = 1;
    flag.store(1, std::memory_order_release);
    invisible_signal(&step);
  });
  std::thread breaker([] {
    invisible_start(3);
    invisible_wait(&step, 1);
    flag.store(2, std::memory_order_relaxed);
    invisible_signal(&step);
  });
  std::thread reader([&seen] {
    invisible_start(3);
    invisible_wait(&step, 2);  // a load that reads 1 would be ordered after the head
    if (flag.load(std::memory_order_acquire) == 2) seen = data;
  });
  head.join();
  breaker.join();
  reader.join();
  return seen == 1 ? 0 : 1;
}
