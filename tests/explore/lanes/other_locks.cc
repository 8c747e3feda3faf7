// SPDX-License-Identifier: Apache-2.0
//
// A deadlock of mutexes that nothing names: an object of which no field is accessed. Others were locked before.
#include <memory>
#include <mutex>
#include <thread>

struct Locks {
  std::mutex first, second;
};

int main() {
  auto quiet = std::make_unique<Locks>(), busy = std::make_unique<Locks>();
  {
    std::lock_guard<std::mutex> one(quiet->first);
    std::lock_guard<std::mutex> two(quiet->second);
  }
  std::thread up([&] {
    std::lock_guard<std::mutex> one(busy->first);
    std::lock_guard<std::mutex> two(busy->second);
  });
  std::thread down([&] {
    std::lock_guard<std::mutex> two(busy->second);
    std::lock_guard<std::mutex> one(busy->first);
  });
  up.join();
  down.join();
}
