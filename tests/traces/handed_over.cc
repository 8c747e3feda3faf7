// SPDX-License-Identifier: Apache-2.0
//
// x is written before a critical section by one thread and after one by the other. If the first comes first,
// the lock orders the two writes in that run; nothing orders them in general.
#include <mutex>
#include <thread>

static std::mutex lock;
static int x, y, z;

int main(int count, char**) {
  std::thread first([] {
    x = 1;
    std::lock_guard guard(lock);
    ++y;
  });
  if (count > 1) first.join();  // with an argument nothing can happen
  std::thread second([] {
    {
      std::lock_guard guard(lock);
      ++z;
    }
    x = 2;
  });
  if (count == 1) first.join();
  second.join();
}
