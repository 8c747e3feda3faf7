// SPDX-License-Identifier: Apache-2.0
//
// Names carry their scope: a namespace, a static member, an unnamed namespace.
//
// EXPECT-RACE: bank::balance
// EXPECT-RACE: Stats::hits
// EXPECT-RACE: *hidden
#include <thread>

#include "invisible_barrier.h"

namespace bank {
int balance = 0;
}
struct Stats {
  static int hits;
};
int Stats::hits = 0;
namespace {
int hidden = 0;
}
int step = 0;

void work() {
  bank::balance++;
  Stats::hits++;
  hidden++;
}

int main() {
  std::thread one([] {
    invisible_start(2);
    work();
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    work();
  });
  one.join();
  two.join();
  return hidden == 2 ? 0 : 1;
}
