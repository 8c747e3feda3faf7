// SPDX-License-Identifier: Apache-2.0
//
// Double-checked initialisation that raises the flag before the value is there.
//
// EXPECT-FAILURE: assertion
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

std::mutex lock;
std::atomic<bool> initialised{false};
std::atomic<int> value{0};

int get() {
  if (!initialised) {
    std::lock_guard guard(lock);
    if (!initialised) {
      initialised = true;  // should be the last thing
      value = 42;
    }
  }
  return value;
}

int main() {
  auto use = [] { assert(get() == 42); };
  std::thread first(use), second(use);
  first.join();
  second.join();
}
