// SPDX-License-Identifier: Apache-2.0
// A cache whose size is read without its lock.
#ifndef CACHE_H_
#define CACHE_H_

#include <array>
#include <mutex>

class Cache {
 public:
  void put(int value) {
    std::lock_guard guard(mutex_);
    slots_.at(static_cast<std::size_t>(size_)) = value;
    ++size_;
  }
  void clear() {
    std::lock_guard guard(mutex_);
    size_ = 0;
  }
  /// The newest, or -1. Without the lock: that is the race.
  int newest() {
    if (size_ == 0) return -1;
    return slots_.at(static_cast<std::size_t>(size_) - 1);
  }
  int newest_locked() {
    std::lock_guard guard(mutex_);
    return newest();
  }

 private:
  std::mutex mutex_;
  std::array<int, 8> slots_{};
  int size_ = 0;
};

#endif  // CACHE_H_
