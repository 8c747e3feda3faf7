// SPDX-License-Identifier: Apache-2.0
//
// Depth 1: the owner deletes the object while a thread that it started may not have used it yet. The call
// goes through the table of virtual functions, which free has written over.
//
// EXPECT-FAILURE: use-after-free
#include <cstdio>
#include <memory>
#include <thread>

class Shape {
 public:
  virtual ~Shape() = default;
  virtual void draw() { std::puts("drawn"); }
};

int main() {
  auto shape = std::make_unique<Shape>();
  std::thread painter([pointer = shape.get()] { pointer->draw(); });
  shape.reset();  // should be after the join
  painter.join();
}
