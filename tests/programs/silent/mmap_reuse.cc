// SPDX-License-Identifier: Apache-2.0
//
// A page unmapped by one thread and mapped again by another is new memory.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (ThreadSanitizer does not allow this address)
#include <sys/mman.h>

#include <thread>

#include "invisible_barrier.h"

int unmapped = 0;
void* const kPlace = reinterpret_cast<void*>(0x200000000000);

char* map() {
  return static_cast<char*>(
      mmap(kPlace, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
}

int main() {
  bool same = false;
  std::thread first([] {
    char* page = map();
    page[10] = 1;
    munmap(page, 4096);
    invisible_signal(&unmapped);
  });
  std::thread second([&same] {
    invisible_wait(&unmapped, 1);
    char* page = map();
    same = page == kPlace;
    if (same) page[10] = 2;
    munmap(page, 4096);
  });
  first.join();
  second.join();
  return same ? 0 : 1;
}
