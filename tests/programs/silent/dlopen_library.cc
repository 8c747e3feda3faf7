// SPDX-License-Identifier: Apache-2.0
//
// An instrumented library loaded at run time, used by two threads under a lock, then closed.
//
// EXPECT-NO-RACE
// PLUGIN: ../lib/counter.cc
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <thread>

std::mutex mutex;

int main() {
  int total = 0;
  for (int round = 0; round < 3; round++) {
    void* library = dlopen(std::getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 2;
    auto add = reinterpret_cast<int (*)(int)>(dlsym(library, "library_add"));
    auto work = [add] {
      for (int i = 0; i < 100; i++) {
        std::lock_guard lock(mutex);
        add(1);
      }
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    total += add(0);
    dlclose(library);
  }
  return total >= 600 ? 0 : 1;
}
