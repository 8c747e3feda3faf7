// SPDX-License-Identifier: Apache-2.0
//
// The allocator gives memory freed by one thread to another: free orders before the allocation.
//
// EXPECT-NO-RACE
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

int main() {
  std::vector<std::thread> threads;
  int bad[4] = {};
  for (int t = 0; t < 4; t++)
    threads.emplace_back([t, &bad] {
      for (int i = 0; i < 2000; i++) {
        size_t size = 16 + (i % 7) * 48;
        char* block = static_cast<char*>(std::malloc(size));
        std::memset(block, t, size);
        if (i % 5 == 0) block = static_cast<char*>(std::realloc(block, size * 3));
        if (block[size - 1] != t) bad[t]++;
        std::free(block);
        int* number = new int(i);
        bad[t] += *number != i;
        delete number;
      }
    });
  for (auto& thread : threads) thread.join();
  // Large blocks go straight to the system and come back at the same address.
  for (int i = 0; i < 8; i++) {
    std::thread user([] {
      std::vector<int> large(200000, 1);
      large[777]++;
    });
    user.join();
  }
  return bad[0] + bad[1] + bad[2] + bad[3];
}
