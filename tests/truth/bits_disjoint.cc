// SPDX-License-Identifier: Apache-2.0
//
// One thread writes bit 0; the other reads bit 4, which was set before both began.
//
// truth: options harmless: every value that the word ever has, from the start of the threads on, has bit 4
#include <thread>

unsigned options = 1u << 4;

int main() {
  bool set = true;
  std::thread writer([] {
    options |= 1u;
    options &= ~1u;
  });
  std::thread reader([&set] {
    for (int i = 0; i < 3; ++i) set = set && (options & (1u << 4)) != 0;
  });
  writer.join();
  reader.join();
  return set ? 0 : 1;
}
