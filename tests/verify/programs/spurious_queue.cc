// SPDX-License-Identifier: Apache-2.0
//
// A queue with room for one, two conditions. Whoever puts must look again after it was woken.
//
// VERIFY-ASSUMES: waits end only by signals
// EXPECT-VERIFY: 8 none
// VERIFY-WITH: --spurious: 56 none
// VERIFY-WITH: --spurious=2: 180 none
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class Queue {
 public:
  void put(int value) {
    std::unique_lock lock(m_);
    while (full_) emptied_.wait(lock);
    assert(!full_);
    item_ = value;
    full_ = true;
    filled_.notify_one();
  }
  int take() {
    std::unique_lock lock(m_);
    filled_.wait(lock, [this] { return full_; });
    full_ = false;
    emptied_.notify_one();
    return item_;
  }

 private:
  std::mutex m_;
  std::condition_variable emptied_, filled_;
  int item_ = 0;
  bool full_ = false;
};

int main() {
  Queue queue;
  std::thread producer([&] {
    queue.put(1);
    queue.put(2);
  });
  int first = queue.take(), second = queue.take();
  producer.join();
  return first == 1 && second == 2 ? 0 : 1;
}
