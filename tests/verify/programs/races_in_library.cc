// SPDX-License-Identifier: Apache-2.0
//
// A system call reads what another thread writes: that access is not a step, and what follows from its order
// is not known.
//
// EXPECT-VERIFY: * race text*
// VERIFY-BOUND: races found; failures not searched for: a library function
#include <unistd.h>

#include <thread>

char text[4] = "abc";

int main() {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  std::thread writer([&] { (void)!write(ends[1], text, 3); });
  text[0] = 'x';
  writer.join();
  char first = 0;
  return read(ends[0], &first, 1) == 2;
}
