// SPDX-License-Identifier: Apache-2.0
//
// Mutual exclusion by an algorithm that defines enter(me) and leave(me) for threads 0 to THREADS - 1: two are
// never inside together, and everybody gets in. Shared<T> is what the algorithm's variables are: plain
// (PLAIN), or atomic with the orders of Shared::load and store: sequentially consistent, or acquire and
// release (ACQ_REL) where that suffices.
#pragma once

#include "parallel.h"

#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#ifdef PLAIN
template <typename T>
using Shared = T;
#else
template <typename T>
class Shared {
 public:
#ifdef ACQ_REL
  static constexpr auto kLoad = std::memory_order_acquire, kStore = std::memory_order_release;
#else
  static constexpr auto kLoad = std::memory_order_seq_cst, kStore = std::memory_order_seq_cst;
#endif
  Shared() = default;
  Shared(T initial) : value_(initial) {}
  operator T() const { return value_.load(kLoad); }
  Shared& operator=(T value) {
    value_.store(value, kStore);
    return *this;
  }

 private:
  std::atomic<T> value_{};
};
#endif

static void enter(int me);
static void leave(int me);

static int inside;  // plain: the algorithm orders it

int main() {
  in_parallel_each(THREADS, [](int me) {
    for (int round = 0; round < ROUNDS; ++round) {
      enter(me);
      ++inside;
      assert(inside == 1);
      --inside;
      leave(me);
    }
  });
}
