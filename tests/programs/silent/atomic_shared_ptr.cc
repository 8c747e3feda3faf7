// SPDX-License-Identifier: Apache-2.0
//
// std::atomic<std::shared_ptr> with exchange and store: the lock bit inside it carries the order.
// (load is another matter in libstdc++ 12: see racy/atomic_shared_ptr_load.cc.)
//
// EXPECT-NO-RACE
#include <atomic>
#include <memory>
#include <thread>

struct Config {
  int a, b;
};
std::atomic<std::shared_ptr<Config>> current;

int main() {
  current.store(std::make_shared<Config>(Config{0, 0}));
  bool torn[2] = {};
  auto work = [](bool* bad) {
    for (int i = 1; i <= 100; i++) {
      auto old = current.exchange(std::make_shared<Config>(Config{i, i}));
      *bad = *bad || old->a != old->b;
    }
  };
  std::thread first(work, &torn[0]), second(work, &torn[1]);
  first.join();
  second.join();
  return torn[0] || torn[1] ? 1 : 0;
}
