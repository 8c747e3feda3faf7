// SPDX-License-Identifier: Apache-2.0
//
// The access comes after the free, in another thread and with no order between them.
//
// EXPECT-RACE: *
// OTHER-TOOLS: differ (ThreadSanitizer marks only the beginning of a freed block)
#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int freed = 0;
int sink = 0;

int main() {
  char* block = static_cast<char*>(std::malloc(3000));
  for (int i = 0; i < 3000; i++) block[i] = 1;
  std::thread user([block] {
    invisible_wait(&freed, 1);
    sink = block[1500];
  });
  std::free(block);
  invisible_signal(&freed);
  user.join();
  return 0;
}
