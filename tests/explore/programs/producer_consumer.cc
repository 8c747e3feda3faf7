// SPDX-License-Identifier: Apache-2.0
//
// A bounded buffer with two condition variables, two producers and two consumers.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

class Buffer {
 public:
  void put(int value) {
    std::unique_lock guard(lock_);
    not_full_.wait(guard, [this] { return values_.size() < 2; });
    values_.push_back(value);
    not_empty_.notify_one();
  }
  int take() {
    std::unique_lock guard(lock_);
    not_empty_.wait(guard, [this] { return !values_.empty(); });
    int value = values_.front();
    values_.pop_front();
    not_full_.notify_one();
    return value;
  }

 private:
  std::mutex lock_;
  std::condition_variable not_full_, not_empty_;
  std::deque<int> values_;
};

int main() {
  Buffer buffer;
  int sums[2] = {};
  auto produce = [&](int first) {
    for (int i = 0; i < 3; ++i) buffer.put(first + i);
  };
  auto consume = [&](int& sum) {
    for (int i = 0; i < 3; ++i) sum += buffer.take();
  };
  std::thread a(produce, 1), b(produce, 10), c([&] { consume(sums[0]); }), d([&] { consume(sums[1]); });
  for (std::thread* thread : {&a, &b, &c, &d}) thread->join();
  assert(sums[0] + sums[1] == 1 + 2 + 3 + 10 + 11 + 12);
}
