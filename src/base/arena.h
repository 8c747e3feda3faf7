// SPDX-License-Identifier: Apache-2.0
//
// Memory for the runtime, straight from the kernel, because the target's malloc is one of the
// things under observation. Sizes are rounded to powers of two and kept on free lists by size.
#pragma once

#include <new>
#include <utility>

#include "base/spin_lock.h"

namespace duress {

/// Threads: any; one spin lock, held for a few instructions. Never returns null.
class Arena {
 public:
  constexpr Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  /// Returns every block to the kernel (tests; the runtime's arena lives as long as the process).
  void release_all();

  /// The next allocations, up to so many bytes, need no new mapping.
  void reserve(size_t bytes);
  /// Aligned to 16 bytes, from 64 bytes on to 64. Not cleared when reused.
  void* allocate(size_t bytes);
  void free(void* p, size_t bytes);

  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(alignof(T) <= kLine);
    return new (allocate(sizeof(T))) T(std::forward<Args>(args)...);
  }

  size_t mapped_bytes() const { return mapped_; }

  /// After fork in the child: the thread that held the lock is gone.
  void reset_lock() { new (&lock_) SpinLock; }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  struct Mapping {
    Mapping* next;
    size_t bytes;
  };
  static constexpr size_t kLine = 64;  // of the caches
  static constexpr int kSmallest = 4;  // 16 bytes
  static constexpr int kLargest = 20;  // above 1 MiB: a mapping of its own
  static constexpr size_t kRefill = size_t{1} << 18;

  static int size_class(size_t bytes);
  void* map_tracked(size_t bytes);

  SpinLock lock_;
  FreeBlock* free_[kLargest + 1] = {};
  char* bump_ = nullptr;
  char* bump_end_ = nullptr;
  Mapping* mappings_ = nullptr;
  size_t mapped_ = 0;
};

}  // namespace duress
