// SPDX-License-Identifier: Apache-2.0
//
// A pipeline: the filters at both ends are serial and count, and the one between them is parallel, where two items are
// at once; there nothing may be shared. Two places in memory are used in turn, as two items are under way.
//
// WRONG: *between*
#include <tbb/parallel_pipeline.h>

#include <cstdio>

#include "teamwork.h"

static int read_count, written, between;
static int places[2];
static std::atomic<int> arrived;

int main() {
  with_two_threads([] {
    auto read = [](tbb::flow_control& flow) -> int* {
      if (read_count == 20) {
        flow.stop();
        return nullptr;
      }
      int* place = &places[read_count % 2];
      *place = read_count++;
      return place;
    };
    auto twice = [](int* place) {
      if (arrived < 2) meet(arrived);
      *place *= 2;
#ifdef WRONG
      between++;
#endif
      return *place;
    };
    auto write = [](int value) { written += value; };
    using tbb::filter_mode;
    tbb::parallel_pipeline(2, tbb::make_filter<void, int*>(filter_mode::serial_in_order, read) &
                                  tbb::make_filter<int*, int>(filter_mode::parallel, twice) &
                                  tbb::make_filter<int, void>(filter_mode::serial_in_order, write));
  });
  std::printf("%d\n", written);
  return written != 380;
}
