// SPDX-License-Identifier: Apache-2.0
//
// A class template: the change goes into the template, for all of its instances.
//
// FIX: hold
#include <cassert>
#include <mutex>
#include <thread>

template <class Value>
class Box {
 public:
  void put(Value value) {
    std::lock_guard<std::mutex> guard(mutex_);
    value_ = value;
  }
  Value get() const { return value_; }

 private:
  mutable std::mutex mutex_;
  Value value_{};
};

int main() {
  Box<long> box;
  Box<char> other_box;
  other_box.put('x');
  std::thread other([&] { box.put(7); });
  long seen = box.get();
  other.join();
  assert((seen == 0 || seen == 7) && other_box.get() == 'x');
}
