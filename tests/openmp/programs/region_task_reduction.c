// SPDX-License-Identifier: Apache-2.0
// reduction(task, ...) on a region, also of an array: tasks of any thread add to the parts.
// WRONG: count
#include <stdlib.h>

static int count;

int main(void) {
  int sum = 0, parts[3] = {0};
  for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(4) reduction(task, + : sum, parts)
    {
#pragma omp single nowait
      for (int i = 0; i < 30; i++) {
#pragma omp task in_reduction(+ : sum, parts)
        {
          sum += i;
          parts[i % 3] += 1;
#ifdef WRONG
          count += 1;
#endif
        }
      }
      sum += 1;
    }
  }
  if (sum != 20 * (435 + 4) || parts[0] != 200 || count < 0) abort();
  return 0;
}
