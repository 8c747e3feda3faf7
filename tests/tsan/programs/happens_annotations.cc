// SPDX-License-Identifier: Apache-2.0
//
// A flag with relaxed atomics; annotations give it the order that it lacks.
//
// WRONG: value
#include <atomic>
#include <thread>

extern "C" void AnnotateHappensBefore(const char* file, int line, const volatile void* p);
extern "C" void AnnotateHappensAfter(const char* file, int line, const volatile void* p);

std::atomic<bool> ready;
int value;

int main() {
  std::thread other([] {
    value = 7;
#ifndef WRONG
    AnnotateHappensBefore(__FILE__, __LINE__, &ready);
#endif
    ready.store(true, std::memory_order_relaxed);
  });
  while (!ready.load(std::memory_order_relaxed)) std::this_thread::yield();
#ifndef WRONG
  AnnotateHappensAfter(__FILE__, __LINE__, &ready);
#endif
  int seen = value;
  other.join();
  return seen == 7 ? 0 : 1;
}
