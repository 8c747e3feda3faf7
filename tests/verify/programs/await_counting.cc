// SPDX-License-Identifier: Apache-2.0
//
// A loop that waits and counts its rounds in memory has no end if the others never have a turn. No fair schedule
// does that, so it is no finding; and the rounds are not all explored.
//
// EXPECT-VERIFY: * none
// VERIFY-FLAGS: --runs 50
// VERIFY-BOUND: as many executions as --runs allows
#include <atomic>
#include <thread>

std::atomic<int> flag{0}, rounds{0};

int main() {
  std::thread a([] {
    while (flag == 0) ++rounds;
  });
  std::thread b([] { flag = 1; });
  a.join();
  b.join();
}
