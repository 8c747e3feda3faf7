// SPDX-License-Identifier: Apache-2.0
//
// A single-producer single-consumer ring with acquire and release indices only.
//
// EXPECT-NO-RACE
#include <atomic>
#include <thread>

constexpr unsigned kSize = 8;
struct Message {
  int id;
  double payload;
} ring[kSize];
std::atomic<unsigned> head = 0, tail = 0;

int main() {
  std::thread producer([] {
    for (int i = 0; i < 1000; i++) {
      unsigned t = tail.load(std::memory_order_relaxed);
      while (t - head.load(std::memory_order_acquire) == kSize) std::this_thread::yield();
      ring[t % kSize] = {i, i * 0.5};
      tail.store(t + 1, std::memory_order_release);
    }
  });
  double sum = 0;
  for (int i = 0; i < 1000; i++) {
    unsigned h = head.load(std::memory_order_relaxed);
    while (tail.load(std::memory_order_acquire) == h) std::this_thread::yield();
    sum += ring[h % kSize].payload;
    head.store(h + 1, std::memory_order_release);
  }
  producer.join();
  return sum == 999 * 1000 / 4.0 ? 0 : 1;
}
