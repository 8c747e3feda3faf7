// SPDX-License-Identifier: Apache-2.0
//
// An instrumented library linked as usual; its own mutex, its own static and its thread_local.
//
// EXPECT-NO-RACE
// LIB: ../lib/counter.cc
#include <thread>

extern "C" int library_locked_add(int);
extern "C" int library_local_add(int);

int main() {
  auto work = [] {
    for (int i = 0; i < 100; i++) {
      library_locked_add(1);
      if (library_local_add(1) != i + 1) __builtin_trap();
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  return library_locked_add(0) == 200 ? 0 : 1;
}
