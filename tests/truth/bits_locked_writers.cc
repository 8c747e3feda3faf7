// SPDX-License-Identifier: Apache-2.0
//
// Writers change bits under a lock; a reader looks at a bit that never changes without it.
//
// truth: state harmless: no lost update, because writers hold the lock, and the bit that is read is constant
#include <mutex>
#include <thread>

std::mutex mutex;
unsigned state = 8;

void toggle(unsigned bit) {
  std::lock_guard guard(mutex);
  state ^= bit;
}

int main() {
  bool enabled = true;
  std::thread first(toggle, 1u), second(toggle, 2u);
  for (int i = 0; i < 3; ++i) enabled = enabled && (state & 8) != 0;
  first.join();
  second.join();
  return enabled && state == 11 ? 0 : 1;
}
