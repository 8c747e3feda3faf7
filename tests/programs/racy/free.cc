// SPDX-License-Identifier: Apache-2.0
//
// free without order after another thread's access: the free itself is the second access.
//
// EXPECT-RACE: *
#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int used = 0;

int main() {
  int* block = static_cast<int*>(std::malloc(10 * sizeof(int)));
  std::thread user([block] {
    block[3] = 1;
    invisible_signal(&used);
  });
  invisible_wait(&used, 1);
  std::free(block);
  user.join();
  return 0;
}
