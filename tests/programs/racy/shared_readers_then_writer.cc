// SPDX-License-Identifier: Apache-2.0
//
// Four concurrent readers, three of them joined before the write: only the last reader races.
//
// EXPECT-RACE: value read-write
// SUITE: fast
#include <thread>
#include <vector>

#include "invisible_barrier.h"

int value = 1;
int readers = 0, end = 0;

int main() {
  int sums[4] = {};
  auto reader = [&sums](int i) {
    sums[i] = value;
    invisible_barrier(&readers, 4);
  };
  std::vector<std::thread> joined;
  for (int i = 0; i < 3; i++) joined.emplace_back(reader, i);
  std::thread last([&] {
    reader(3);
    invisible_wait(&end, 1);
  });
  for (auto& thread : joined) thread.join();
  value = 2;
  invisible_signal(&end);
  last.join();
  return sums[0] + sums[1] + sums[2] + sums[3] == 4 ? 0 : 1;
}
