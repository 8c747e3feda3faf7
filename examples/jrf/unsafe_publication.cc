// SPDX-License-Identifier: Apache-2.0
//
// Java RaceFinder, unsafe publication: the constructor publishes `this` before it has set x. The
// pointer itself is atomic, so the only race is on x.
//
// EXPECT-RACE: Data::x write-read @set @check
// VERIFY-SUITE: fast
// VERIFY-FIX: publish after Data::x is set
// EXPECT-VERIFY: * race Data::x
// SUITE: fast
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

struct Data;
std::atomic<Data*> data = nullptr;
int constructed = 0;

struct Data {
  int x;
  Data() {
    data = this;
    x = 1;  // @set
  }
};

int main() {
  bool right = true;
  std::thread first([] {
    invisible_start(2);
    new Data();
    invisible_signal(&constructed);
  });
  std::thread second([&right] {
    invisible_start(2);
    invisible_wait(&constructed, 1);
    Data* seen = data;
    if (seen != nullptr) right = seen->x == 1;  // @check
  });
  first.join();
  second.join();
  delete data.load();
  return right ? 0 : 1;
}
