// SPDX-License-Identifier: Apache-2.0
//
// The first check is only a hint; the data is used under the lock by everybody.
//
// truth: ready harmless: a stale false only takes the lock once more; a true can only come from a store that does not happen after the load, and then the reader's own lock comes after the initialisation
#include <mutex>
#include <thread>

std::mutex mutex;
bool ready = false;
int value = 0;

int get() {
  if (!ready) {
    std::lock_guard guard(mutex);
    if (!ready) {
      value = 9;
      ready = true;
    }
  }
  std::lock_guard guard(mutex);
  return value;
}

int main() {
  int a = 0, b = 0;
  std::thread first([&a] { a = get(); });
  std::thread second([&b] { b = get(); });
  first.join();
  second.join();
  return a == 9 && b == 9 ? 0 : 1;
}
