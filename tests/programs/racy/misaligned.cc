// SPDX-License-Identifier: Apache-2.0
//
// A misaligned 8-byte value across two words meets a byte in the second one.
//
// EXPECT-RACE: *raw* write-write
#include <cstdint>
#include <cstring>
#include <thread>

#include "invisible_barrier.h"

struct __attribute__((packed)) Packed {
  char pad[5];
  uint64_t value;
};
alignas(8) char raw[32];
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    reinterpret_cast<Packed*>(raw)->value = ~0ull;
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    raw[12] = 0;
  });
  one.join();
  two.join();
  return raw[11] == -1 && raw[12] == 0 ? 0 : 1;
}
