// SPDX-License-Identifier: Apache-2.0
//
// A field of a field, through an array of structs.
//
// EXPECT-RACE: Outer::inner*x|Inner::x write-write
#include <thread>

#include "invisible_barrier.h"

struct Inner {
  int x, y;
};
struct Outer {
  int id;
  Inner inner;
};
Outer outers[4];
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    outers[2].inner.x = 1;
    outers[2].inner.y = 1;
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    outers[2].inner.x = 2;
    outers[2].id = 2;
  });
  one.join();
  two.join();
  return outers[2].inner.x == 2 ? 0 : 1;
}
