// SPDX-License-Identifier: Apache-2.0
//
// Critical sections, atomics and locks: values are counted in buckets with a lock each, and their sum is kept
// by an atomic; each part ends in a critical section. work: values; data: buckets.
#include "team.h"

int main(int argc, char** argv) {
  const bench::Arguments given = bench::arguments(argc, argv, 1000000, 1000);
  const long work = given.work, data = given.data;
  std::vector<uint64_t> buckets(data);
  std::vector<omp_lock_t> locks(data);
  for (omp_lock_t& lock : locks) omp_init_lock(&lock);
  uint64_t sum = 0, parts = 0;
  bench::with_team(given.threads, [&] {
#pragma omp parallel for schedule(dynamic, 1)
    for (long part = 0; part < 1000; part++) {
      bench::Random random(part + 1);
      uint64_t own = 0;
      for (long i = 0; i < work / 1000; i++) {
        const uint64_t value = random.next();
        const long bucket = static_cast<long>(value % static_cast<uint64_t>(data));
        omp_set_lock(&locks[bucket]);
        buckets[bucket] += value >> 32;
        omp_unset_lock(&locks[bucket]);
        own += value & 1;
      }
#pragma omp atomic
      sum += own;
#pragma omp critical
      parts++;
    }
  });
  uint64_t checksum = sum * 1000003 + parts;
  for (uint64_t bucket : buckets) checksum = checksum * 31 + bucket;
  for (omp_lock_t& lock : locks) omp_destroy_lock(&lock);
  return bench::finish(checksum);
}
