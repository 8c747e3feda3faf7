// SPDX-License-Identifier: Apache-2.0
// A field of a heap object: one thread writes it, one reads it, until they are stopped.
#include <thread>

struct Entry {
  long key, value;
};

struct Cache {
  int hits_ = 0;
  int size_ = 0;
  Entry entry_{};
  __attribute__((noinline)) void evict() { size_ = size_ > 100 ? 0 : 101; }
  __attribute__((noinline)) int get() const {
    asm volatile("" ::: "memory");  // read each time
    return size_;
  }
};

int main() {
  auto* cache = new Cache;
  long sum = 0;
  std::thread writer([cache] {
    for (;;) cache->evict();
  });
  std::thread reader([cache, &sum] {
    for (;;) sum += cache->get();
  });
  writer.join();
  reader.join();
  return static_cast<int>(sum);
}
