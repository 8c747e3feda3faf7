// SPDX-License-Identifier: Apache-2.0
//
// Different descriptors do not matter to each other; data read from a file lands in private buffers.
//
// EXPECT-NO-RACE
#include <fcntl.h>
#include <unistd.h>

#include <thread>
#include <vector>

int main() {
  std::vector<std::thread> threads;
  int got[4] = {};
  for (int t = 0; t < 4; t++)
    threads.emplace_back([t, &got] {
      char buffer[256];
      for (int i = 0; i < 50; i++) {
        int file = open("/dev/zero", O_RDONLY);
        got[t] += static_cast<int>(read(file, buffer, sizeof buffer));
        buffer[0] = 1;
        close(file);
      }
    });
  for (auto& thread : threads) thread.join();
  return got[0] + got[1] + got[2] + got[3] == 4 * 50 * 256 ? 0 : 1;
}
