// SPDX-License-Identifier: Apache-2.0
//
// One thread looks at the names of all libraries while another one opens and closes one: the loader's own lock orders them.
//
// EXPECT-NO-RACE
// PLUGIN: ../lib/thread_local_array.cc
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <thread>

std::atomic<bool> done{false};

int main() {
  std::thread reader([] {
    long letters = 0;
    do {
      dl_iterate_phdr(
          [](dl_phdr_info* info, size_t, void* sum) {
            for (const char* c = info->dlpi_name; *c; ++c) ++*static_cast<long*>(sum);
            return 0;
          },
          &letters);
    } while (!done.load(std::memory_order_relaxed));
    if (letters == 0) std::abort();
  });
  for (int i = 0; i < 200; ++i) {
    void* library = dlopen(std::getenv("PLUGIN"), RTLD_NOW);
    if (!library) return 1;
    dlclose(library);
  }
  done.store(true, std::memory_order_relaxed);
  reader.join();
  return 0;
}
