// SPDX-License-Identifier: Apache-2.0
//
// Atomics of 1, 2, 4, 8 and 16 bytes each carry order from one thread to the next.
//
// EXPECT-NO-RACE
// FLAGS: -mcx16
#include <atomic>
#include <cstdint>
#include <thread>

int data[5];
std::atomic<uint8_t> one;
std::atomic<uint16_t> two;
std::atomic<uint32_t> four;
std::atomic<uint64_t> eight;
__int128 sixteen __attribute__((aligned(16)));

template <typename T>
void pass(std::atomic<T>& from, int i) {
  while (from.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  data[i]++;
}

int main() {
  std::thread writer([] {
    data[0]++, one.store(1, std::memory_order_release);
    data[1]++, two.exchange(1, std::memory_order_release);
    data[2]++, four.fetch_or(1, std::memory_order_release);
    data[3]++, eight.fetch_sub(1, std::memory_order_release);
    data[4]++;
    __int128 expected = 0;
    while (!__atomic_compare_exchange_n(&sixteen, &expected, (__int128)1 << 70, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
      expected = 0;
  });
  pass(one, 0), pass(two, 1), pass(four, 2), pass(eight, 3);
  for (;;) {
    __int128 wanted = (__int128)1 << 70;
    if (__atomic_compare_exchange_n(&sixteen, &wanted, wanted, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
      break;
    std::this_thread::yield();
  }
  data[4]++;
  writer.join();
  for (int value : data)
    if (value != 2) return 1;
  return 0;
}
