// SPDX-License-Identifier: Apache-2.0
//
// Two buffers: the writer fills the one that is not shown and shows it. A reader that is slow sees the buffer
// that it reads from being filled the next time but one.
//
// BUG buffers: -DFRAMES=3
// BUG buffers_late: -DFRAMES=6
// CORRECT buffers_two: -DFRAMES=1
#include "../programs/parallel.h"

static std::atomic<int> shown, buffer[2][2];

int main() {
  in_parallel(
      [] {
        for (int frame = 1; frame <= FRAMES; ++frame) {
          int hidden = 1 - shown;
          buffer[hidden][0] = frame;
          buffer[hidden][1] = frame;
          shown = hidden;
        }
      },
      [] {
        int which = shown;
        int first = buffer[which][0];
        int second = buffer[which][1];
        assert(first == second);
      });
}
