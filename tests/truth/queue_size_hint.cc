// SPDX-License-Identifier: Apache-2.0
//
// A worker looks at the size before it takes the lock; main takes what is left.
//
// truth: size harmless: an empty or full queue is checked again under the lock, and main drains after the join
#include <mutex>
#include <thread>

std::mutex mutex;
int size = 0, sum = 0;

void push(int count) {
  for (int i = 0; i < count; ++i) {
    std::lock_guard guard(mutex);
    ++size;
  }
}

void poll(int times) {
  for (int i = 0; i < times; ++i) {
    if (size == 0) continue;
    std::lock_guard guard(mutex);
    if (size == 0) continue;
    --size;
    ++sum;
  }
}

int main() {
  std::thread producer(push, 3), consumer(poll, 4);
  producer.join();
  consumer.join();
  poll(3);
  return sum == 3 && size == 0 ? 0 : 1;
}
