// SPDX-License-Identifier: Apache-2.0
//
// Java RaceFinder, class SimpleSync: the flag is set and read under a lock, which orders the data.
//
// EXPECT-NO-RACE
// VERIFY-SUITE: fast
// EXPECT-VERIFY: * none
// SUITE: fast
#include <mutex>
#include <thread>

struct SimpleSync {
  int data = 0;
  bool done = false;
  std::mutex mutex;

  bool is_done() {
    std::lock_guard lock(mutex);
    return done;
  }
};

SimpleSync simple;

int main() {
  bool right = false;
  std::thread producer([] {
    simple.data = 42;
    std::lock_guard lock(simple.mutex);
    simple.done = true;
  });
  std::thread consumer([&right] {
    while (!simple.is_done()) std::this_thread::yield();
    right = simple.data == 42;
  });
  producer.join();
  consumer.join();
  return right ? 0 : 1;
}
