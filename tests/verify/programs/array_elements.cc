// SPDX-License-Identifier: Apache-2.0
//
// An array that is volatile does not have atomic elements.
//
// VERIFY-FIX: make the elements of flags[] atomic
// EXPECT-VERIFY: * race flags*
#include <thread>

volatile bool flags[4] = {};

int main() {
  std::thread worker([] { flags[2] = true; });
  bool seen = flags[2];
  worker.join();
  return seen && !flags[2];
}
