// SPDX-License-Identifier: Apache-2.0
//
// The same line in several functions: each pair of them has its own executions. put<4> comes after put<2>, so
// these two do not race.
//
// EXPECT-VERIFY: 5 race shared
// VERIFY-PAIR: put<1> put<2>: 4
// VERIFY-PAIR: put<1> put<4>: 2
#include <atomic>
#include <thread>

std::atomic<bool> go{false};
int shared = 0;

template <int kValue>
void put() {
  shared = kValue;
}

int main() {
  std::thread a(put<1>);
  std::thread b([] {
    put<2>();
    go = true;
  });
  std::thread c([] {
    if (go) put<4>();
  });
  a.join();
  b.join();
  c.join();
}
