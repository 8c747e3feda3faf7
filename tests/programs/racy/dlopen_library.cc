// SPDX-License-Identifier: Apache-2.0
//
// The racy code is in a library that is opened and closed again before the program ends.
//
// EXPECT-RACE: library_counter
// PLUGIN: ../lib/counter.cc
#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int step = 0;

int main() {
  void* library = dlopen(std::getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 2;
  auto add = reinterpret_cast<int (*)(int)>(dlsym(library, "library_add"));
  int seen = 0;
  std::thread one([add] {
    invisible_start(2);
    add(1);
    invisible_signal(&step);
  });
  std::thread two([add, &seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = add(1);
  });
  one.join();
  two.join();
  dlclose(library);
  return seen == 2 ? 0 : 1;
}
