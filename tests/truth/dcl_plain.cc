// SPDX-License-Identifier: Apache-2.0
//
// Double-checked locking with a plain pointer.
//
// truth: instance destructive exit:1|signal:SIGSEGV: the unlocked load may see the pointer before the fields are written; the load of the return may see the null that the check did not
// truth: Config::limit destructive exit:1: a thread that skipped the lock has no order with the constructor
#include <mutex>
#include <thread>

struct Config {
  int limit;
};

std::mutex mutex;
Config storage;
Config* instance = nullptr;

Config* get() {
  if (instance == nullptr) {
    std::lock_guard guard(mutex);
    if (instance == nullptr) {
      storage.limit = 100;
      instance = &storage;
    }
  }
  return instance;
}

int main() {
  bool right[2] = {};
  std::thread first([&right] { right[0] = get()->limit == 100; });
  std::thread second([&right] { right[1] = get()->limit == 100; });
  first.join();
  second.join();
  return right[0] && right[1] ? 0 : 1;
}
