// SPDX-License-Identifier: Apache-2.0
//
// A one-byte lock for short critical sections inside the target, where the C library's mutexes are
// intercepted by ourselves. Spins briefly, then yields: the holder may have been descheduled.
#pragma once

#include <atomic>

#include "base/raw.h"

namespace duress {

class SpinLock {
 public:
  void lock() {
    if (DURESS_LIKELY(!held_.exchange(true, std::memory_order_acquire))) return;
    lock_slow();
  }
  bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  __attribute__((noinline)) void lock_slow() {
    for (int spins = 0;; ++spins) {
      while (held_.load(std::memory_order_relaxed)) {
        if (++spins < 64) {
          __builtin_ia32_pause();
        } else {
          yield_processor();
        }
      }
      if (!held_.exchange(true, std::memory_order_acquire)) return;
    }
  }

  std::atomic<bool> held_{false};
};

class SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~SpinGuard() { lock_.unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace duress
