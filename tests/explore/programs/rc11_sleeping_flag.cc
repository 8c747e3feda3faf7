// SPDX-License-Identifier: Apache-2.0
//
// A producer wakes the consumer only if that says it sleeps, to save the lock. Each may miss what the other
// has just said, and then nobody wakes anybody.
//
// EXPECT-FAILURE: deadlock
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- seq_cst
// WITHIN: 500
#include <atomic>
#include <semaphore>
#include <thread>

std::atomic<bool> work{false}, sleeping{false};
std::binary_semaphore wake{0};

int main(int argc, char**) {
  bool right = argc > 1;
  auto store = right ? std::memory_order_seq_cst : std::memory_order_release;
  auto load = right ? std::memory_order_seq_cst : std::memory_order_acquire;
  std::thread consumer([=] {
    sleeping.store(true, store);
    if (!work.load(load)) wake.acquire();
  });
  std::thread producer([=] {
    work.store(true, store);
    if (sleeping.load(load)) wake.release();
  });
  consumer.join();
  producer.join();
}
