// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 2: double-checked locking. The second thread finds `p` set without taking the lock,
// so nothing orders the constructor before its reads of the point: three racy variables. That on
// `p` does no harm (a stale null only takes the lock again); those on x and y do.
//
// EXPECT-VERDICT: Point::x destructive
// EXPECT-VERDICT: Point::y destructive
// EXPECT-VERDICT: Point::p no-harm-found
// EXPECT-RACE: Point::p write-read @publish @peek
// EXPECT-RACE: Point::x write-read
// EXPECT-RACE: Point::y write-read
// EXPECT-OUTPUT: slope 1.0
// SUITE: fast
#include <cstdio>
#include <mutex>
#include <thread>

#include "invisible_barrier.h"

class Point {
 public:
  static double slope() { return get()->y / get()->x; }

 private:
  Point() {
    x = 1.0;
    y = 1.0;
  }

  static Point* get() {
    Point* t = p;  // @peek
    if (t != nullptr) return t;
    std::lock_guard lock(mutex);
    if (p == nullptr) p = new Point();  // @publish
    return p;
  }

  static Point* p;
  static std::mutex mutex;
  double x, y;
};

Point* Point::p = nullptr;
std::mutex Point::mutex;

int main() {
  int first_done = 0;
  double first_slope = 0, second_slope = 0;
  std::thread first([&] {
    invisible_start(2);
    first_slope = Point::slope();
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    second_slope = Point::slope();
  });
  first.join();
  second.join();
  std::printf("slope %.1f %.1f\n", first_slope, second_slope);
  return first_slope == 1.0 && second_slope == 1.0 ? 0 : 1;
}
