// SPDX-License-Identifier: Apache-2.0
//
// Key and value packed in one aligned word.
//
// truth: entry harmless: a word is read as a whole, so the pair always fits; another pair is computed again
#include <thread>

unsigned long entry = 0;

unsigned long square(unsigned long key) {
  unsigned long seen = entry;
  if (seen >> 32 == key) return seen & 0xffffffffu;
  unsigned long value = key * key;
  entry = key << 32 | value;
  return value;
}

int main() {
  unsigned long results[3] = {};
  std::thread threads[3];
  for (unsigned long i = 0; i < 3; ++i)
    threads[i] = std::thread([&results, i] { results[i] = square(i / 2 + 3); });
  for (std::thread& thread : threads) thread.join();
  return results[0] == 9 && results[1] == 9 && results[2] == 16 ? 0 : 1;
}
