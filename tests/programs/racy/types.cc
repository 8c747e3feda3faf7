// SPDX-License-Identifier: Apache-2.0
//
// Values of many types and sizes.
//
// EXPECT-RACE: real
// EXPECT-RACE: pointer
// EXPECT-RACE: yes
// EXPECT-RACE: wide|Wide::*
// EXPECT-RACE: small
// EXPECT-RACE: extended
#include <thread>

#include "invisible_barrier.h"

struct Wide {
  long low, high;
};
double real = 0;
const char* pointer = nullptr;
bool yes = false;
Wide wide = {0, 0};
unsigned char small = 0;
long double extended = 0;
Wide source = {5, 6};
int step = 0;

int main() {
  bool right = false;
  std::thread one([] {
    invisible_start(2);
    real = 1.5;
    pointer = "text";
    yes = true;
    wide = source;
    small = 9;
    extended = 2.5L;
    invisible_signal(&step);
  });
  std::thread two([&right] {
    invisible_start(2);
    invisible_wait(&step, 1);
    Wide copy = wide;
    right = real == 1.5 && pointer[0] == 't' && yes && copy.low == 5 && copy.high == 6 && small == 9 &&
            extended == 2.5L;
  });
  one.join();
  two.join();
  return right ? 0 : 1;
}
