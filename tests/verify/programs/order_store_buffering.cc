// SPDX-License-Identifier: Apache-2.0
//
// No race, and no failure under sequential consistency. Under rc11 both threads may come in, unless all four
// accesses are seq_cst.
//
// EXPECT-VERIFY: 5 failure assertion
// VERIFY-FLAGS: --model rc11
// VERIFY-FIX: use seq_cst for the store at order_store_buffering.cc:17 and seq_cst for the load
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> mine[2];
std::atomic<int> inside{0};

void enter(int self) {
  mine[self].store(1, std::memory_order_release);
  if (mine[1 - self].load(std::memory_order_acquire) == 0) inside.fetch_add(1, std::memory_order_relaxed);
}

int main() {
  std::thread first(enter, 0), second(enter, 1);
  first.join();
  second.join();
  assert(inside.load(std::memory_order_relaxed) < 2);
}
