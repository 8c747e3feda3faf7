// SPDX-License-Identifier: Apache-2.0
//
// An array that is volatile does not have atomic elements.
//
// VERIFY-FIX: make the elements of flags[] atomic
// EXPECT-VERIFY: * race flags*
#include <thread>

volatile bool flags[4] = {};

int main() {
  bool seen = false;
  std::thread worker([] { flags[2] = true; });
  std::thread reader([&seen] { seen = flags[2]; });
  worker.join();
  reader.join();
  return seen && !flags[2];
}
