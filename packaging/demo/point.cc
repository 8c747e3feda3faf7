// SPDX-License-Identifier: Apache-2.0
//
// Double-checked locking, as `duress demo` shows it: a thread that finds `p` set does not take the lock, so nothing
// orders what the constructor wrote before what that thread reads.
#include <cstdio>
#include <mutex>
#include <thread>

class Point {
 public:
  static double slope() { return get()->y / get()->x; }

 private:
  Point() {
    x = 1.0;
    y = 1.0;
  }

  static Point* get() {
    Point* t = p;
    if (t != nullptr) return t;
    std::lock_guard lock(mutex);
    if (p == nullptr) p = new Point();
    return p;
  }

  static Point* p;
  static std::mutex mutex;
  double x, y;
};

Point* Point::p = nullptr;
std::mutex Point::mutex;

int main() {
  double first = 0, second = 0;
  std::thread one([&] { first = Point::slope(); });
  std::thread two([&] { second = Point::slope(); });
  one.join();
  two.join();
  std::printf("slopes %.1f and %.1f\n", first, second);
  return first == 1.0 && second == 1.0 ? 0 : 1;
}
