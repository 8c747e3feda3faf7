// SPDX-License-Identifier: Apache-2.0
//
// A block is freed while another thread still uses it: a race, and in one of the two orders a use of freed memory.
// A free is a step, too.
//
// EXPECT-VERIFY: 2 race Counter::hits
// EXPECT-VERIFY: 2 failure use-after-free
#include <cstdlib>
#include <cstring>
#include <thread>

struct Counter {
  long before[2];
  int hits;
};

int main() {
  auto* counter = static_cast<Counter*>(malloc(sizeof(Counter)));
  counter->hits = 7;
  int seen = 0;
  std::thread reader([&] { seen = counter->hits; });
  free(counter);
  auto* next = static_cast<Counter*>(malloc(sizeof(Counter)));  // not at the same place
  next->hits = 8;
  reader.join();
  free(next);
  return seen != 7;
}
