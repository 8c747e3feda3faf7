// SPDX-License-Identifier: Apache-2.0
//
// A ring for one producer and one consumer. Each has an index of its own, but both change the number of
// elements, and neither takes a lock.
//
// EXPECT-FAILURE: assertion
#include <cassert>
#include <thread>

class CircularBuffer {
 public:
  bool put(int value) {
    if (count_ == kSize) return false;
    slots_[in_] = value;
    in_ = (in_ + 1) % kSize;
    ++count_;
    return true;
  }
  bool take(int& value) {
    if (count_ == 0) return false;
    value = slots_[out_];
    out_ = (out_ + 1) % kSize;
    --count_;
    return true;
  }
  int count() const { return count_; }

 private:
  static constexpr int kSize = 4;
  int slots_[kSize] = {};
  int in_ = 0, out_ = 0;
  int count_ = 0;
};

int main() {
  CircularBuffer buffer;
  int put = 0, taken = 0;
  buffer.put(0);
  std::thread producer([&] {
    for (int i = 1; i <= 2; ++i) put += buffer.put(i) ? 1 : 0;
  });
  std::thread consumer([&] {
    for (int i = 0, value = 0; i < 2; ++i) taken += buffer.take(value) ? 1 : 0;
  });
  producer.join();
  consumer.join();
  assert(buffer.count() == 1 + put - taken);
}
