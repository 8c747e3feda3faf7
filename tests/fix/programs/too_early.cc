// SPDX-License-Identifier: Apache-2.0
//
// An object is published before it is complete.
//
// FIX: publish after
#include <atomic>
#include <thread>

struct Point {
  int x = 0;
};

static Point point;
static std::atomic<Point*> shared{nullptr};

static void publish() {
  shared.store(&point);
  point.x = 7;
}

int main() {
  std::thread other(publish);
  Point* seen = shared.load();
  int wrong = seen != nullptr && seen->x != 7 ? 1 : 0;
  other.join();
  return wrong;
}
