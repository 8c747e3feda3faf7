// SPDX-License-Identifier: Apache-2.0
//
// A new configuration is built and published by a plain pointer.
//
// truth: current destructive exit:1: the pointer may be seen before the limits are written
// truth: Limits::low destructive exit:1: a reader of the new object has no order with its construction
// truth: Limits::high destructive exit:1: as Limits::low
#include <thread>

struct Limits {
  int low, high;
};

Limits objects[2] = {{1, 2}, {0, 0}};
Limits* current = &objects[0];

int main() {
  bool right = true;
  std::thread reloader([] {
    objects[1].low = 10;
    objects[1].high = 20;
    current = &objects[1];
  });
  std::thread user([&right] {
    Limits* limits = current;
    right = limits->high == 2 * limits->low && limits->low > 0;
  });
  reloader.join();
  user.join();
  return right ? 0 : 1;
}
