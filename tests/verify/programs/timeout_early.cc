// SPDX-License-Identifier: Apache-2.0
//
// It is taken for granted that a second is enough. Three ways to wait so long; the sleep needs no option.
//
// VERIFY-FLAGS: --timeouts
// EXPECT-VERIFY: * failure exit:1
// VERIFY-ALSO: -DLOCK * failure exit:1
// VERIFY-ALSO: -DRIGHT * none
// VERIFY-ASSUMES: waits end only by signals
// VERIFY-ASSUMES-NOTHING: -DLOCK
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

std::timed_mutex tm;
std::mutex m;
std::condition_variable changed;
bool ready = false;

int main() {
#ifdef LOCK
  std::thread other([] { std::lock_guard guard(tm); });
  bool in_time = tm.try_lock_for(1s);
  if (in_time) tm.unlock();
#else
  std::thread other([] {
    std::lock_guard guard(m);
    ready = true;
    changed.notify_one();
  });
  std::unique_lock guard(m);
  bool in_time = changed.wait_for(guard, 1s, [] { return ready; });
#ifdef RIGHT
  if (!in_time) changed.wait(guard, [] { return ready; });
  in_time = true;
#endif
  guard.unlock();
#endif
  other.join();
  return in_time ? 0 : 1;
}
