// SPDX-License-Identifier: Apache-2.0
// FLAGS: -std=c++20 -mcx16
// Atomics of every size, operation and order, on integers, pointers, floating point and structures.
#include <atomic>
#include <cstdint>
#include <cstdio>

template <class T>
void integer(const char* name) {
  static std::atomic<T> a;
  a.store(T(5), std::memory_order_release);
  T r = a.exchange(T(200), std::memory_order_acq_rel);
  r = T(r + a.fetch_add(T(100)));
  r = T(r + a.fetch_sub(T(3), std::memory_order_relaxed));
  r = T(r ^ a.fetch_and(T(0x7f), std::memory_order_acquire));
  r = T(r ^ a.fetch_or(T(0x41)));
  r = T(r ^ a.fetch_xor(T(0x22)));
  T expected = T(1);
  bool wrong =
      a.compare_exchange_strong(expected, T(9), std::memory_order_acq_rel, std::memory_order_relaxed);
  bool right = a.compare_exchange_strong(expected, T(77), std::memory_order_seq_cst);
  while (!a.compare_exchange_weak(expected, T(expected + 1))) {
  }
  T n = __atomic_fetch_nand((T*)&a, T(0x0f), __ATOMIC_SEQ_CST);
  printf("%s %lld %d %d %lld %lld\n", name, (long long)r, wrong, right, (long long)n,
         (long long)a.load(std::memory_order_acquire));
}

struct Pair {
  long a, b;
};
std::atomic<Pair> pair;
std::atomic<int*> pointer;
std::atomic<double> real;
std::atomic<float> small;
std::atomic<bool> flag;
std::atomic_flag bit = ATOMIC_FLAG_INIT;
unsigned __int128 wide;
int array[10];

int main() {
  integer<uint8_t>("u8");
  integer<int8_t>("i8");
  integer<uint16_t>("u16");
  integer<int32_t>("i32");
  integer<uint64_t>("u64");
  pair.store({1, 2});
  Pair expected{1, 2};
  bool swapped = pair.compare_exchange_strong(expected, {3, 4});
  Pair now = pair.load();
  printf("%d %ld %ld\n", swapped, now.a, now.b);
  pointer = array;
  pointer += 3;
  pointer.fetch_sub(1);
  int* e = array + 2;
  printf("%d %d\n", pointer.compare_exchange_strong(e, array + 7), int(pointer.load() - array));
  real = 1.5;
  double old = real.fetch_add(2.25);
  small.store(0.5f);
  small.fetch_sub(0.25f, std::memory_order_relaxed);
  float d = small.exchange(9);
  printf("%g %g %g %g\n", old, real.load(), d, small.load());
  printf("%d %d %d %d\n", flag.exchange(true), flag.load(), bit.test_and_set(), bit.test_and_set());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_acquire);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&wide, ((unsigned __int128)7 << 90) + 1, __ATOMIC_SEQ_CST);
  unsigned __int128 w = __atomic_fetch_add(&wide, 5, __ATOMIC_SEQ_CST);
  printf("%llu %llu\n", (unsigned long long)w,
         (unsigned long long)(__atomic_load_n(&wide, __ATOMIC_SEQ_CST) >> 90));
  int maximum = 3;
  __atomic_fetch_max(&maximum, 8, __ATOMIC_SEQ_CST);
  __atomic_fetch_min(&maximum, 5, __ATOMIC_SEQ_CST);
  printf("%d\n", maximum);
}
