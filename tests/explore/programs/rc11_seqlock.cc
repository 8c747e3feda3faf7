// SPDX-License-Identifier: Apache-2.0
//
// A sequence lock. The reader looks at the number again to see that nothing changed, but without a fence that
// second look may be as old as the first; and so may the writer's first number be late.
//
// EXPECT-FAILURE: assertion
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- fences
// WITHIN: 1000
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<unsigned> number{0};
std::atomic<int> left{0}, right{0};  // always equal
bool fences = false;

void write(int value) {
  number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (fences) std::atomic_thread_fence(std::memory_order_release);
  left.store(value, std::memory_order_relaxed);
  right.store(value, std::memory_order_relaxed);
  number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

bool read(int& a, int& b) {
  unsigned before = number.load(std::memory_order_acquire);
  a = left.load(std::memory_order_relaxed);
  b = right.load(std::memory_order_relaxed);
  if (fences) std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && number.load(std::memory_order_relaxed) == before;
}

int main(int argc, char**) {
  fences = argc > 1;
  std::thread writer([] {
    write(1);
    write(2);
  });
  std::thread reader([] {
    int a = 0, b = 0;
    if (read(a, b)) assert(a == b);
  });
  writer.join();
  reader.join();
}
