// SPDX-License-Identifier: Apache-2.0
//
// Two counters in one object on the heap: one is billed, the other is decoration.
//
// truth: Stats::billed destructive exit:1: a lost update is a wrong bill
// truth: Stats::viewed harmless beside Stats::billed: nothing reads it
#include <memory>
#include <thread>

struct Stats {
  long billed = 0;
  long viewed = 0;
};

void serve(Stats* stats) {
  ++stats->viewed;
  ++stats->billed;
}

int main() {
  auto stats = std::make_unique<Stats>();
  std::thread first(serve, stats.get()), second(serve, stats.get());
  first.join();
  second.join();
  return stats->billed == 2 ? 0 : 1;
}
