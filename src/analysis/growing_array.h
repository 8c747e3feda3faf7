// SPDX-License-Identifier: Apache-2.0
//
// An array that grows and is zero where nothing was put, in an arena. For things with small numbers.
#pragma once

#include <string.h>

#include "base/arena.h"

namespace duress {

/// T is moved by copying its bytes. Threads: callers lock.
template <typename T>
class GrowingArray {
 public:
  explicit GrowingArray(Arena& arena) : arena_(&arena) {}
  ~GrowingArray() { arena_->free(items_, capacity_ * sizeof(T)); }
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;

  /// Grows as needed.
  T& operator[](size_t i) {
    if (DURESS_UNLIKELY(i >= capacity_)) reserve(i + 1);
    if (i >= size_) size_ = i + 1;
    return items_[i];
  }
  const T& at(size_t i) const { return items_[i]; }
  T& push() { return (*this)[size_]; }
  T pop() {
    T last = items_[--size_];
    memset(static_cast<void*>(items_ + size_), 0, sizeof(T));
    return last;
  }
  size_t size() const { return size_; }
  /// Leaves room and forgets the items. REQUIRES: they own nothing.
  void clear() {
    if (size_) memset(static_cast<void*>(items_), 0, size_ * sizeof(T));
    size_ = 0;
  }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }

 private:
  void reserve(size_t n) {
    size_t capacity = capacity_ ? capacity_ : 8;
    while (capacity < n) capacity *= 2;
    auto* items = static_cast<T*>(arena_->allocate(capacity * sizeof(T)));
    if (size_) memcpy(static_cast<void*>(items), static_cast<const void*>(items_), size_ * sizeof(T));
    memset(static_cast<void*>(items + size_), 0, (capacity - size_) * sizeof(T));
    arena_->free(items_, capacity_ * sizeof(T));
    items_ = items;
    capacity_ = capacity;
  }

  Arena* arena_;
  T* items_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace duress
