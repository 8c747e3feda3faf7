// SPDX-License-Identifier: Apache-2.0
//
// An order that the detector cannot see, told by annotation; a race that is meant; assertions that hold.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (they do not know these annotations)
#include <duress/annotate.h>

#include <thread>

#include "invisible_barrier.h"

int data = 0;
int statistics = 0;
int ready = 0;

int main() {
  int seen = 0;
  std::thread writer([] {
    DURESS_ASSERT_EXCLUSIVE_ACCESS(data);
    data = 42;
    DURESS_INTENDED_RACE_BEGIN();
    ++statistics;
    DURESS_INTENDED_RACE_END();
    DURESS_HAPPENS_BEFORE(&ready);
    invisible_signal(&ready);
  });
  std::thread reader([&seen] {
    invisible_wait(&ready, 1);
    DURESS_INTENDED_RACE_BEGIN();
    ++statistics;
    DURESS_INTENDED_RACE_END();
    DURESS_HAPPENS_AFTER(&ready);
    DURESS_ASSERT_EXCLUSIVE_WRITER(data);
    seen = data;
  });
  writer.join();
  reader.join();
  return seen == 42 ? 0 : 1;
}
