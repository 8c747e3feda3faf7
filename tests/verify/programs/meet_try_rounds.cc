// SPDX-License-Identifier: Apache-2.0
//
// A loop takes one mutex and tries another, as std::lock does. That it held the first is seen by the
// other thread, whose try fails. Under rc11 a round that fails is followed once, and no further: the answer must
// not be `complete`.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: bounded
#include <mutex>
#include <thread>

std::mutex a, b;
bool failed = false;

int main() {
  std::thread other([] {
    std::lock_guard guard(b);
    if (a.try_lock()) {
      a.unlock();
    } else {
      failed = true;
    }
  });
  for (;;) {
    a.lock();
    if (b.try_lock()) break;
    a.unlock();
  }
  b.unlock();
  a.unlock();
  other.join();
}
