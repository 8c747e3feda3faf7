// SPDX-License-Identifier: Apache-2.0
//
// Memory that is not the beginning of a heap block is freed: inside a block, a global, a local.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DINSIDE failure invalid-free
// VERIFY-FAULT: -DGLOBAL failure invalid-free
// VERIFY-FAULT: -DLOCAL failure invalid-free
#include <cstdlib>
#include <thread>

static int global = 1;

int main() {
  int local = 2;
  auto* block = static_cast<int*>(malloc(4 * sizeof(int)));
  block[1] = 3;
  int* freed = block;
#ifdef INSIDE
  freed = block + 2;
#elif defined(GLOBAL)
  freed = &global;
#elif defined(LOCAL)
  freed = &local;
#endif
  std::thread thread([&] { free(freed); });
  thread.join();
  return global + local == 0;
}
