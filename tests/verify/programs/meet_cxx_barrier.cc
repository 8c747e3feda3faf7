// SPDX-License-Identifier: Apache-2.0
//
// std::barrier of two.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: *
#include <barrier>
#include <thread>

std::barrier barrier(2);
int values[2];

int go(int me) {
  values[me] = 1;
  barrier.arrive_and_wait();
  return values[1 - me];
}

int main() {
  int seen = 0;
  std::thread other([&] { seen = go(1); });
  int here = go(0);
  other.join();
  return seen + here == 2 ? 0 : 1;
}
