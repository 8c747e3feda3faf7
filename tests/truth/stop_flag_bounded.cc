// SPDX-License-Identifier: Apache-2.0
//
// A worker has so many items, and may stop earlier.
//
// truth: cancelled harmless: a cancellation that is seen late or never only means that all items are done
#include <thread>

bool cancelled = false;

int main() {
  int done = 0;
  std::thread worker([&done] {
    for (int i = 0; i < 10 && !cancelled; ++i) ++done;
  });
  cancelled = true;
  worker.join();
  return done >= 0 && done <= 10 ? 0 : 1;
}
