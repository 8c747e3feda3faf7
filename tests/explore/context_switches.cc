// SPDX-License-Identifier: Apache-2.0
//
// Prints whether its process gave up its processor more than 80 times. One that performs a single execution has not; one
// that is rolled back has, when it comes to its 81st: it does between any two, and the kernel counts on.
#include <sys/resource.h>

#include <cstdio>
#include <thread>

int main() {
  std::thread other([] {});
  other.join();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::puts(usage.ru_nvcsw + usage.ru_nivcsw > 80 ? "old" : "new");
}
