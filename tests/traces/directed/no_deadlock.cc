// SPDX-License-Identifier: Apache-2.0
// Two locks in both orders, but the second order comes only when the first is over for good: a flag says so, under
// a third lock, which LockOrder does not follow.
// EXPECT LockOrder: 1 suspected, 0 created
#include <mutex>
#include <thread>

std::mutex a, b, flag;
bool over;

int main() {
  std::thread other([] {
    for (;;) {
      {
        std::lock_guard guard(flag);
        if (over) break;
      }
      std::this_thread::yield();
    }
    std::lock_guard second(b);
    std::lock_guard first(a);
  });
  {
    std::lock_guard first(a);
    std::lock_guard second(b);
  }
  {
    std::lock_guard guard(flag);
    over = true;
  }
  other.join();
}
