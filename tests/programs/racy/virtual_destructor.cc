// SPDX-License-Identifier: Apache-2.0
//
// A virtual call races with the end of the object's construction: the v-table pointer is data too.
//
// EXPECT-RACE: * write-read
#include <atomic>
#include <thread>

#include "invisible_barrier.h"

struct Shape {
  virtual ~Shape() = default;
  virtual int sides() { return 0; }
};
struct Square : Shape {
  int sides() override { return 4; }
};
std::atomic<Shape*> shape = nullptr;
int step = 0;

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    shape.store(new Square, std::memory_order_relaxed);
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = shape.load(std::memory_order_relaxed)->sides();
  });
  one.join();
  two.join();
  delete shape.load();
  return seen == 4 ? 0 : 1;
}
