// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue with one mutex and two condition variables; items are plain heap objects.
//
// EXPECT-NO-RACE
// SUITE: fast
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

struct Item {
  int value;
};
std::mutex mutex;
std::condition_variable not_empty, not_full;
std::deque<Item*> queue;

int main() {
  constexpr int kItems = 500;
  long sum = 0;
  std::thread producer([] {
    for (int i = 1; i <= kItems; i++) {
      Item* item = new Item{i};
      std::unique_lock lock(mutex);
      not_full.wait(lock, [] { return queue.size() < 4; });
      queue.push_back(item);
      not_empty.notify_one();
    }
  });
  std::thread consumer([&sum] {
    for (int i = 1; i <= kItems; i++) {
      std::unique_lock lock(mutex);
      not_empty.wait(lock, [] { return !queue.empty(); });
      Item* item = queue.front();
      queue.pop_front();
      not_full.notify_one();
      lock.unlock();
      sum += item->value;
      delete item;
    }
  });
  producer.join();
  consumer.join();
  return sum == kItems * (kItems + 1) / 2 ? 0 : 1;
}
