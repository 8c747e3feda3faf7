// SPDX-License-Identifier: Apache-2.0
//
// Every thread counts for itself, and its thread-local counter adds itself to the total when the thread ends:
// without a lock, because "only the destructor does it".
//
// EXPECT-FAILURE: assertion
#include <cassert>
#include <thread>

int total = 0;

struct Counter {
  int count = 0;
  ~Counter() { total += count; }
};

thread_local Counter counter;

void work() {
  for (int i = 0; i < 3; ++i) ++counter.count;
}

int main() {
  std::thread first(work), second(work);
  first.join();
  second.join();
  assert(total == 6);
}
