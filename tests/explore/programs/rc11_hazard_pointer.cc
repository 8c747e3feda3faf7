// SPDX-License-Identifier: Apache-2.0
//
// A reader says which object it uses, looks again, and uses it; the writer replaces the object and frees it if
// no reader said so. Between saying and looking there must be a fence, on both sides.
//
// EXPECT-FAILURE: assertion
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- fences
// WITHIN: 500
#include <atomic>
#include <cassert>
#include <thread>

struct Config {
  std::atomic<bool> freed{false};
};

Config configs[2];
std::atomic<Config*> current{&configs[0]};
std::atomic<Config*> hazard{nullptr};
bool fences = false;

void fence() {
  if (fences) std::atomic_thread_fence(std::memory_order_seq_cst);
}

int main(int argc, char**) {
  fences = argc > 1;
  std::thread reader([] {
    Config* mine = current.load(std::memory_order_acquire);
    hazard.store(mine, std::memory_order_release);
    fence();
    if (current.load(std::memory_order_acquire) == mine) {
      assert(!mine->freed.load(std::memory_order_relaxed));
      std::this_thread::yield();
      assert(!mine->freed.load(std::memory_order_relaxed));
    }
    hazard.store(nullptr, std::memory_order_release);
  });
  std::thread writer([] {
    Config* old = current.exchange(&configs[1], std::memory_order_acq_rel);
    fence();
    if (hazard.load(std::memory_order_acquire) != old) old->freed.store(true, std::memory_order_relaxed);
  });
  reader.join();
  writer.join();
}
