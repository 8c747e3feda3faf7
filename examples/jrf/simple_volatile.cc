// SPDX-License-Identifier: Apache-2.0
//
// Java RaceFinder, class SimpleVolatile: Java's volatile flag is std::atomic in C++. No race.
//
// EXPECT-NO-RACE
// EXPECT-VERIFY: * none
// SUITE: fast
#include <atomic>
#include <thread>

struct SimpleVolatile {
  int data = 0;
  std::atomic<bool> done = false;
};

SimpleVolatile simple;

int main() {
  bool right = false;
  std::thread producer([] {
    simple.data = 42;
    simple.done = true;
  });
  std::thread consumer([&right] {
    while (!simple.done) std::this_thread::yield();
    right = simple.data == 42;
  });
  producer.join();
  consumer.join();
  return right ? 0 : 1;
}
