// SPDX-License-Identifier: Apache-2.0
//
// Everything that is atomic, used rightly: atomic_ref, waiting and notifying, flags, shared_ptr, 1 to 16 bytes,
// the same bytes with two sizes, memory that is freed and comes again.
//
// EXPECT-NO-FAILURE
// OPTIONS: --model rc11
// WITHIN: 300
// FLAGS: -mcx16 -latomic
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <latch>
#include <memory>
#include <semaphore>
#include <thread>

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release;

int plain = 0;  // accessed through atomic_ref while the threads run
std::atomic<std::uint8_t> byte{0};
std::atomic<std::uint16_t> half{0};
std::atomic<std::uint64_t> word{0};
struct alignas(16) Pair {
  std::uint64_t a, b;
};
Pair pair = {0, 0};
std::atomic<int> stage{0};
std::atomic<std::uint64_t> wide_stage{0};
std::atomic_flag flag = ATOMIC_FLAG_INIT;
std::counting_semaphore<4> tickets{0};
std::latch both{2};
std::atomic<std::shared_ptr<int>> shared;

unsigned __int128 load_pair() {
  auto* p = reinterpret_cast<unsigned __int128*>(&pair);
  return __sync_val_compare_and_swap(p, 0, 0);
}
void store_pair(unsigned __int128 value) {
  auto* p = reinterpret_cast<unsigned __int128*>(&pair);
  for (unsigned __int128 old = load_pair(), seen; (seen = __sync_val_compare_and_swap(p, old, value)) != old;)
    old = seen;
}

void produce() {
  std::atomic_ref<int>(plain).store(1, relaxed);
  byte.store(1, relaxed);
  half.store(1, relaxed);
  word.store(1, relaxed);
  store_pair(static_cast<unsigned __int128>(7) << 64 | 7);
  stage.store(1, release);
  stage.notify_one();
  wide_stage.store(1, release);
  wide_stage.notify_all();
  tickets.release();
  shared.store(std::make_shared<int>(5));
  both.arrive_and_wait();
  flag.clear(release);
  for (int i = 0; i < 3; ++i) {
    auto counter = std::make_unique<std::atomic<int>>(i);
    counter->fetch_add(1, relaxed);
    assert(counter->load(relaxed) == i + 1);
  }
}

void consume() {
  wide_stage.wait(0, acquire);
  stage.wait(0, acquire);
  assert(std::atomic_ref<int>(plain).load(relaxed) == 1);
  assert(byte.load(relaxed) == 1 && half.load(relaxed) == 1 && word.load(relaxed) == 1);
  assert(load_pair() == (static_cast<unsigned __int128>(7) << 64 | 7));
  tickets.acquire();
  both.arrive_and_wait();
  while (flag.test_and_set(acquire)) std::this_thread::yield();
  assert(*shared.load() == 5);
  // Two halves of a word, and the word.
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(&word)).store(2, relaxed);
  assert(word.load(relaxed) == 2);
}

int main() {
  flag.test_and_set();
  std::thread producer(produce), consumer(consume);
  producer.join();
  consumer.join();
}
