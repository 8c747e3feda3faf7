// SPDX-License-Identifier: Apache-2.0
//
// A pointer to a local variable outlives the function, or the thread.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFUNCTION failure use-after-return
// VERIFY-FAULT: -DTHREAD failure use-after-return
#include <thread>

int* kept;

__attribute__((noinline)) void keep(int value) {
  volatile int local = value;
  kept = const_cast<int*>(&local);
}

int main() {
  int own = 1;
#ifdef FUNCTION
  keep(1);
#else
  kept = &own;
#endif
  std::thread thread([] {
#ifdef THREAD
    int local = 3;
    kept = &local;
#endif
    *kept += 1;
  });
#ifdef FUNCTION
  int seen = *kept;
  thread.detach();
#else
  thread.join();
  int seen = *kept;
#endif
  return seen == 100;
}
