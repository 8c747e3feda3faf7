// SPDX-License-Identifier: Apache-2.0
//
// A sum and a count that must fit together, updated and read in functions of their own.
//
// FIX: add a mutex for
#include <cassert>
#include <thread>

class Average {
 public:
  void add(int value) {
    sum_ += value;
    count_ += 1;
  }
  bool fits() {
    int sum = sum_;
    int count = count_;
    return sum == 4 * count;
  }

 private:
  int sum_ = 0;
  int count_ = 0;
};

int main() {
  Average average;
  std::thread writer([&] { average.add(4); });
  std::thread reader([&] { assert(average.fits()); });
  writer.join();
  reader.join();
}
