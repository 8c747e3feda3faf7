// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, sunflow's builtAccel: double-checked initialisation by a plain flag. The second thread
// skips the lock, so both the flag and the pointer race.
//
// EXPECT-RACE: Geometry::built_accel write-read
// EXPECT-RACE: Geometry::accel write-read
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

int main() {
  int hits = 0;
  std::thread first([] {
    invisible_start(2);
    geometry.intersect();
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    hits = geometry.intersect();
  });
  first.join();
  second.join();
  return hits == 3 ? 0 : 1;
}
