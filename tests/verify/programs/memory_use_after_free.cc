// SPDX-License-Identifier: Apache-2.0
//
// A thread gives a block back under the lock; another one, if it comes later, reads it under the lock. That is
// no race: the two are ordered.
//
// EXPECT-VERIFY: 2 failure use-after-free
// VERIFY-ALSO: -DCORRECT 2 none
// VERIFY-RC11: 2
// VERIFY-SUITE: fast
#include <mutex>
#include <thread>

std::mutex lock;
int* value = new int(7);

int main() {
  std::thread owner([] {
    std::lock_guard guard(lock);
    delete value;
#ifdef CORRECT
    value = nullptr;
#endif
  });
  int seen = 0;
  {
    std::lock_guard guard(lock);
#ifdef CORRECT
    if (value != nullptr)
#endif
      seen = *value;
  }
  owner.join();
  return seen != 7 && seen != 0;
}
