// SPDX-License-Identifier: Apache-2.0
//
// A thread gets a new block through a relaxed atomic and is the first to use it: nothing orders the allocation before that. The write of the
// second variable is named, not the allocation of its block.
//
// EXPECT-RACE: Unwritten::only_allocated write-write @allocated @first
// EXPECT-RACE: Written::written_too write-write @filled @used
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

struct Unwritten {
  int only_allocated;
};
struct Written {
  int written_too;
};

std::atomic<Unwritten*> unwritten{nullptr};
std::atomic<Written*> written{nullptr};
int ready = 0;

int main() {
  std::thread user([] {
    invisible_wait(&ready, 1);
    unwritten.load(std::memory_order_relaxed)->only_allocated = 1;  // @first
    written.load(std::memory_order_relaxed)->written_too = 2;       // @used
  });
  unwritten.store(new Unwritten, std::memory_order_relaxed);  // @allocated
  Written* block = new Written;
  block->written_too = 1;  // @filled
  written.store(block, std::memory_order_relaxed);
  invisible_signal(&ready);
  user.join();
  delete unwritten.load();
  delete written.load();
  return 0;
}
