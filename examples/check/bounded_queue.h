// SPDX-License-Identifier: Apache-2.0
//
// A queue of at most `most` elements. It has a mistake that a test which runs once will hardly ever show.
#ifndef BOUNDED_QUEUE_H_
#define BOUNDED_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t most) : most_(most) {}

  void push(int value) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (values_.size() == most_) changed_.wait(lock);
    values_.push_back(value);
    changed_.notify_one();  // one waiter for both kinds of waiting
  }

  int pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (values_.empty()) changed_.wait(lock);
    int value = values_.front();
    values_.pop_front();
    changed_.notify_one();
    return value;
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int> values_;
};

#endif  // BOUNDED_QUEUE_H_
