// SPDX-License-Identifier: Apache-2.0
//
// A byte through a pipe orders what was written before it, in both directions.
//
// EXPECT-NO-RACE
// SUITE: fast
#include <unistd.h>

#include <thread>

int data = 0;
int there[2], back[2];

int main() {
  if (pipe(there) != 0 || pipe(back) != 0) return 1;
  std::thread other([] {
    char byte;
    if (read(there[0], &byte, 1) != 1) return;
    data *= 2;
    if (write(back[1], "y", 1) != 1) return;
  });
  data = 21;
  if (write(there[1], "x", 1) != 1) return 1;
  char byte;
  if (read(back[0], &byte, 1) != 1) return 1;
  int seen = data;
  other.join();
  return seen == 42 ? 0 : 1;
}
