// SPDX-License-Identifier: Apache-2.0
//
// A queue whose push takes the lock and whose pop forgot to.
//
// EXPECT-FAILURE: assertion
#include <cassert>
#include <mutex>
#include <thread>

class Queue {
 public:
  void push(int value) {
    std::lock_guard guard(lock_);
    values_[size_] = value;
    ++size_;
  }
  bool pop(int& value) {
    if (size_ == 0) return false;
    --size_;
    value = values_[size_];
    return true;
  }
  int size() const { return size_; }

 private:
  std::mutex lock_;
  int values_[8] = {};
  int size_ = 0;
};

int main() {
  Queue queue;
  queue.push(1);
  bool popped = false;
  std::thread writer([&] { queue.push(2); });
  std::thread reader([&] {
    int value = 0;
    popped = queue.pop(value);
  });
  writer.join();
  reader.join();
  assert(queue.size() == (popped ? 1 : 2));
}
