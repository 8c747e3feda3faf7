// SPDX-License-Identifier: Apache-2.0
//
// Strands that wait for descriptors. Only the kernel knows whether one is ready, so it is asked before each
// choice while a strand waits.
#pragma once

#include <poll.h>
#include <sys/syscall.h>

#include "base/raw.h"
#include "sched/strand.h"

namespace duress::sched {

class DescriptorWaits {
 public:
  bool any() const { return waiters_ != 0; }
  void add(Strand* s, pollfd* descriptors, u32 count) {
    s->wait.descriptors = descriptors;
    s->wait.descriptor_count = count;
    ++waiters_;
  }
  /// Nothing if it does not wait for descriptors.
  void remove(Strand* s) {
    if (!s->wait.descriptors) return;
    s->wait.descriptors = nullptr;
    --waiters_;
  }

  /// Waits up to `milliseconds`, or until a signal comes, until a descriptor is ready; then calls
  /// ready(strand), which removes it, for each strand that has one.
  template <typename Ready>
  void poll(Strand* strands, int milliseconds, Ready ready) {
    constexpr u32 kMost = 1024;
    static pollfd all[kMost];
    u32 count = 0;
    for (Strand* s = strands; s; s = s->next_strand) {
      for (u32 i = 0; s->wait.descriptors && i < s->wait.descriptor_count && count < kMost; ++i)
        all[count++] = s->wait.descriptors[i];
    }
    if (raw_syscall(SYS_poll, reinterpret_cast<long>(all), count, milliseconds) <= 0) return;
    u32 at = 0;
    for (Strand* s = strands; s; s = s->next_strand) {
      if (!s->wait.descriptors) continue;
      bool any = false;
      for (u32 i = 0; i < s->wait.descriptor_count && at < count; ++i) any |= all[at++].revents != 0;
      if (any) ready(s);
    }
  }

 private:
  u32 waiters_ = 0;
};

}  // namespace duress::sched
