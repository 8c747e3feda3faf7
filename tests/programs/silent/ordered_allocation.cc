// SPDX-License-Identifier: Apache-2.0
//
// Blocks that one thread allocates and another is the first to use, in ways that order the two: a lock, a released pointer, a pipe, the
// creation of a thread, a pool that gives a block from hand to hand, and a block that grows.
//
// EXPECT-NO-RACE
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

struct Block {
  int values[40];
  Block* next;
};

std::mutex mutex;
Block* pool = nullptr;  // under the mutex
std::atomic<Block*> released{nullptr};
int ends[2];

Block* take() {
  std::lock_guard<std::mutex> guard(mutex);
  Block* block = pool;
  if (block) pool = block->next;
  return block ? block : static_cast<Block*>(std::malloc(sizeof(Block)));
}

void give(Block* block) {
  std::lock_guard<std::mutex> guard(mutex);
  block->next = pool;
  pool = block;
}

void use_pool() {
  for (int i = 0; i < 200; i++) {
    Block *one = take(), *two = take();
    one->values[i % 40] = i;
    two->values[i % 40] = i;
    give(one);
    give(two);
  }
}

void use(Block* block) {
  for (int& value : block->values) value = 1;
}

int main() {
  if (pipe(ends) != 0) return 1;
  std::thread reader([] {
    Block* block;
    while (!(block = released.load(std::memory_order_acquire))) {
    }
    use(block);
    if (read(ends[0], &block, sizeof block) != sizeof block) return;
    use(block);
  });
  released.store(new Block, std::memory_order_release);
  Block* sent = new Block;
  if (write(ends[1], &sent, sizeof sent) != sizeof sent) return 1;
  std::vector<std::thread> users;
  for (int i = 0; i < 3; i++) users.emplace_back(use_pool);
  std::thread creates([] {
    auto* block = static_cast<Block*>(std::calloc(1, sizeof(Block)));
    std::thread([block] { use(block); }).join();
    auto* larger = static_cast<Block*>(std::realloc(block, 3 * sizeof(Block)));
    std::thread([larger] { use(larger + 1); }).join();
    std::free(larger);
  });
  reader.join();
  creates.join();
  for (std::thread& user : users) user.join();
  delete released.load();
  delete sent;
  while (Block* block = pool) {
    pool = block->next;
    std::free(block);
  }
  return 0;
}
