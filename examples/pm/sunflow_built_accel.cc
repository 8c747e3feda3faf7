// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1, sunflow's builtAccel: double-checked initialisation by a plain flag. Who finds
// the flag set skips the lock, so both the flag and the pointer race. The pointer may be read as it was
// before; the flag may be read as it will be: null either way. With an argument the first thread builds in
// every run.
//
// EXPECT-VERDICT: Geometry::accel destructive signal:SIGSEGV
// EXPECT-VERDICT: Geometry::built_accel destructive signal:SIGSEGV
// EXPECT-RACE: Geometry::built_accel write-read
// EXPECT-RACE: Geometry::accel write-read
// RUN-ARGS: ordered
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

struct Accel {
  int hits = 3;
};
Accel ready_made;

struct Geometry {
  std::mutex mutex;
  int built_accel = 0;
  Accel* accel = nullptr;

  int intersect() {
    if (built_accel == 0) {
      std::lock_guard lock(mutex);
      if (built_accel == 0) {
        accel = &ready_made;
        built_accel = 1;
      }
    }
    return accel->hits;
  }
};

Geometry geometry;
int first_done = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  int first_hits = 0, second_hits = 0;
  std::thread first([&] {
    if (ordered) invisible_start(2);
    first_hits = geometry.intersect();
    if (ordered) invisible_signal(&first_done);
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&first_done, 1);
    second_hits = geometry.intersect();
  });
  first.join();
  second.join();
  return first_hits == 3 && second_hits == 3 ? 0 : 1;
}
