// SPDX-License-Identifier: Apache-2.0
//
// The same, published when it is set.
//
// EXPECT-VERIFY: 2 none
#include <atomic>
#include <thread>

struct Data {
  int x;
};
std::atomic<Data*> data = nullptr;

int main() {
  bool right = true;
  std::thread first([] {
    auto* made = new Data;
    made->x = 1;
    data.store(made, std::memory_order_release);
  });
  std::thread second([&right] {
    if (Data* seen = data.load(std::memory_order_acquire)) right = seen->x == 1;
  });
  first.join();
  second.join();
  delete data.load();
  return right ? 0 : 1;
}
