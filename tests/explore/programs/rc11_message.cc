// SPDX-License-Identifier: Apache-2.0
//
// A message and a flag that says it is there. Nothing orders the two for the reader, and no data race tells:
// both are atomic.
//
// EXPECT-FAILURE: assertion
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- release
// WITHIN: 300
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> message{0};
std::atomic<bool> ready{false};

int main(int argc, char**) {
  bool right = argc > 1;
  std::thread writer([=] {
    message.store(42, std::memory_order_relaxed);
    ready.store(true, right ? std::memory_order_release : std::memory_order_relaxed);
  });
  std::thread reader([=] {
    if (ready.load(right ? std::memory_order_acquire : std::memory_order_relaxed)) {
      assert(message.load(std::memory_order_relaxed) == 42);
    }
  });
  writer.join();
  reader.join();
}
