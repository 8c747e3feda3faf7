// SPDX-License-Identifier: Apache-2.0
//
// Tasks: a merge sort whose halves are tasks, down to parts of 256 elements. work: how often; data: elements.
#include <algorithm>

#include "team.h"

static void sort(uint32_t* values, uint32_t* room, long n) {
  if (n <= 256) {
    std::sort(values, values + n);
    return;
  }
  const long half = n / 2;
#pragma omp task
  sort(values, room, half);
#pragma omp task
  sort(values + half, room + half, n - half);
#pragma omp taskwait
  std::merge(values, values + half, values + half, values + n, room);
  std::copy(room, room + n, values);
}

int main(int argc, char** argv) {
  const bench::Arguments given = bench::arguments(argc, argv, 10, 100000);
  const long work = given.work, data = given.data;
  std::vector<uint32_t> values(data), room(data);
  uint64_t checksum = 0;
  for (long round = 0; round < work; round++) {
    bench::Random random(round + 1);
    for (uint32_t& value : values) value = static_cast<uint32_t>(random.next());
    bench::with_team(given.threads, [&] {
#pragma omp parallel
#pragma omp single
      sort(values.data(), room.data(), data);
    });
    for (long i = 0; i < data; i += 97) checksum = checksum * 31 + values[i];
  }
  return bench::finish(checksum);
}
