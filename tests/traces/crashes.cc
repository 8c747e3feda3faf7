// SPDX-License-Identifier: Apache-2.0
// A race, and then the end by a signal: `abort` or `kill`.
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <thread>

int x;
int main(int, char** arguments) {
  std::thread other([] { x = 1; });
  x = 2;
  other.join();
  if (std::strcmp(arguments[1], "kill") == 0) raise(SIGKILL);
  std::abort();
}
