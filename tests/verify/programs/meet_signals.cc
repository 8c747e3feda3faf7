// SPDX-License-Identifier: Apache-2.0
//
// Two threads wait, one signal: whom it wakes is a choice, and the other one waits for ever.
//
// EXPECT-VERIFY: * failure deadlock
// VERIFY-ASSUMES: waits end only by signals
// VERIFY-RC11: =
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable changed;
int tokens = 0;

void take() {
  std::unique_lock guard(m);
  changed.wait(guard, [] { return tokens > 0; });
}

int main() {
  std::thread first(take), second(take);
  {
    std::lock_guard guard(m);
    ++tokens;
  }
  changed.notify_one();
  first.join();
  second.join();
}
