// SPDX-License-Identifier: Apache-2.0
//
// Double-checked locking, the pointer atomic but relaxed.
//
// truth: Table::size destructive exit:1: the relaxed load of the pointer does not acquire what the other thread wrote
#include <atomic>
#include <mutex>
#include <thread>

struct Table {
  int size = 0;
};

std::mutex mutex;
Table table;
std::atomic<Table*> shared{nullptr};

int size() {
  Table* seen = shared.load(std::memory_order_relaxed);
  if (seen == nullptr) {
    std::lock_guard guard(mutex);
    seen = shared.load(std::memory_order_relaxed);
    if (seen == nullptr) {
      table.size = 16;
      seen = &table;
      shared.store(seen, std::memory_order_relaxed);
    }
  }
  return seen->size;
}

int main() {
  int sizes[3] = {};
  std::thread threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = std::thread([&sizes, i] { sizes[i] = size(); });
  for (std::thread& thread : threads) thread.join();
  return sizes[0] == 16 && sizes[1] == 16 && sizes[2] == 16 ? 0 : 1;
}
