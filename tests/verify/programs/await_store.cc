// SPDX-License-Identifier: Apache-2.0
//
// A loop that waits for a value and stores it itself. Under rc11 its store is one more in modification order
// even if memory holds that value already, so the round is not without effect.
//
// EXPECT-VERIFY: 40 none
// VERIFY-ALSO: -O0 40 none
// VERIFY-ALSO: -O2 40 none
// VERIFY-ALSO: -O3 40 none
// VERIFY-RC11: 40
#include <atomic>
#include <thread>

std::atomic<int> x{0}, y{0};
int seen;

int main() {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  std::thread a([] { x.store(1, kRelaxed); });
  std::thread b([] {
    while (x.load(kRelaxed) != 1) x.store(1, kRelaxed);
    y.store(1, kRelaxed);
  });
  std::thread c([] {
    x.store(2, kRelaxed);
    seen = y.load(kRelaxed);
  });
  a.join();
  b.join();
  c.join();
}
