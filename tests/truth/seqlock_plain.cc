// SPDX-License-Identifier: Apache-2.0
//
// A sequence lock of plain variables.
//
// truth: sequence destructive exit:1: an old even number, read twice, vouches for a mixture
// truth: Point::x destructive exit:1: an old half is read though the number is the new one
// truth: Point::y destructive exit:1: as Point::x
// truth-missed: sequence wrong: no harm found, because in trials of one variable no thread is preempted at the accesses of the others
#include <thread>

struct Point {
  int x = 0, y = 0;
};

unsigned sequence = 0;
Point point;

int main() {
  bool right = true;
  std::thread writer([] {
    ++sequence;
    point.x = 5;
    point.y = 5;
    ++sequence;
  });
  std::thread reader([&right] {
    for (int i = 0; i < 4; ++i) {
      unsigned before = sequence;
      int x = point.x, y = point.y;
      if (before % 2 == 0 && before == sequence) right = right && x == y;
    }
  });
  writer.join();
  reader.join();
  return right ? 0 : 1;
}
