// SPDX-License-Identifier: Apache-2.0
//
// Two threads announce themselves and enter if the other has not. Release and acquire are not enough: both
// may miss each other.
//
// EXPECT-FAILURE: assertion
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- seq_cst
// PASSES: --model rc11 -- fences fences
// WITHIN: 300
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<bool> wants[2];
std::atomic<int> inside{0};

void enter(int me, bool seq_cst, bool fences) {
  wants[me].store(true, seq_cst ? std::memory_order_seq_cst : std::memory_order_release);
  if (fences) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!wants[1 - me].load(seq_cst ? std::memory_order_seq_cst : std::memory_order_acquire)) {
    assert(inside.fetch_add(1) == 0);
    inside.fetch_sub(1);
  }
}

int main(int argc, char**) {
  std::thread first(enter, 0, argc == 2, argc == 3), second(enter, 1, argc == 2, argc == 3);
  first.join();
  second.join();
}
