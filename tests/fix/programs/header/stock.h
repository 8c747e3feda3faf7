// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

class Stock {
 public:
  void add(int pieces) {
    std::lock_guard<std::mutex> guard(mutex_);
    count_ += pieces;
  }
  int count() const { return count_; }

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
};
