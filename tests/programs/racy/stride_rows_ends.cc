// SPDX-License-Identifier: Apache-2.0
//
// The first and the last places of loops over every second element with neighbours on both sides: none may be
// left out when their checks become one row of equally spaced places.
//
// EXPECT-RACE: cells[*] read-write
// EXPECT-RACE: written[*] write-write
// EXPECT-OUTPUT: 9 99 109 199 301 379
#include <cstdio>
#include <thread>

#include "invisible_barrier.h"

double cells[400], written[400];
int step = 0;

__attribute__((noinline)) double up(const double* a, long from, long to) {
  double sum = 0;
  for (long i = from; i <= to; i += 2) sum += a[i - 1] * a[i + 1];
  return sum;
}
__attribute__((noinline)) double down(const double* a, long from, long to) {
  double sum = 0;
  for (long i = to; i >= from; i -= 2) sum += a[i - 1] * a[i + 1];
  return sum;
}
__attribute__((noinline)) void pairs(double* a, long from, long to) {
  for (long i = from; i < to; i += 4) a[i] = 1, a[i + 2] = 2;
}

int main() {
  double sum = 0;
  std::thread one([&sum] {
    invisible_start(2);
    sum = up(cells, 10, 98) + down(cells, 110, 198);
    pairs(written, 301, 381);
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    for (int i : {9, 99, 109, 199}) cells[i] = i;
    for (int i : {301, 379}) written[i] = i;
  });
  one.join();
  two.join();
  std::printf("%g %g %g %g %g %g\n", cells[9], cells[99], cells[109], cells[199], written[301], written[379]);
  return sum == 0 ? 0 : 1;
}
