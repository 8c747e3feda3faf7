// SPDX-License-Identifier: Apache-2.0
//
// Loops over every second element, forwards and backwards, with neighbours on both sides: their checks become
// one row of equally spaced places, which must not reach what lies between them or beyond their ends.
//
// EXPECT-NO-RACE
#include <thread>

#include "invisible_barrier.h"

double cells[400];
int step = 0;

// Odd numbers from `from` - 1 to `to` + 1.
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
// In steps of four, two of them each round: as if unrolled.
__attribute__((noinline)) void pairs(double* a, long from, long to) {
  for (long i = from; i < to; i += 4) a[i] = 1, a[i + 2] = 2;
}

int main() {
  double sum = 0;
  std::thread one([&sum] {
    invisible_start(2);
    sum = up(cells, 10, 98) + down(cells, 110, 198) + up(cells, 2, 0) + down(cells, 2, 0);
    pairs(cells, 301, 381);  // 301 to 379
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    for (int i = 0; i < 400; i += 2) cells[i] = i;
    for (int i : {1, 3, 5, 7, 101, 103, 105, 107, 201, 203, 299, 381, 383}) cells[i] = i;
  });
  one.join();
  two.join();
  return sum == 0 ? 0 : 1;
}
