// SPDX-License-Identifier: Apache-2.0
//
// A 16-byte value whose halves belong together.
//
// truth: wide destructive exit:1: no machine of this family promises that a plain 16-byte store is one; the reader may see half of it
#include <thread>

unsigned __int128 wide = 0;

int main() {
  bool whole = true;
  std::thread writer([] {
    unsigned __int128 one = 1;
    wide = (one << 64) | 1;
  });
  std::thread reader([&whole] {
    unsigned __int128 seen = wide;
    whole = static_cast<unsigned long>(seen >> 64) == static_cast<unsigned long>(seen);
  });
  writer.join();
  reader.join();
  return whole ? 0 : 1;
}
