// SPDX-License-Identifier: Apache-2.0
//
// The queue of queue.cc, with the lock in pop as well.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <cassert>
#include <mutex>
#include <queue>
#include <thread>

class Queue {
 public:
  void push(int value) {
    std::lock_guard guard(lock_);
    values_.push(value);
  }
  bool pop(int& value) {
    std::lock_guard guard(lock_);
    if (values_.empty()) return false;
    value = values_.front();
    values_.pop();
    return true;
  }

 private:
  std::mutex lock_;
  std::queue<int> values_;
};

int main() {
  Queue queue;
  int sums[2] = {};
  auto consume = [&](int& sum) {
    for (int value = 0; queue.pop(value);) sum += value;
  };
  std::thread writer([&] {
    for (int i = 1; i <= 4; ++i) queue.push(i);
  });
  std::thread first([&] { consume(sums[0]); });
  std::thread second([&] { consume(sums[1]); });
  writer.join();
  first.join();
  second.join();
  int rest = 0;
  consume(rest);
  assert(sums[0] + sums[1] + rest == 10);
}
