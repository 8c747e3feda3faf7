// SPDX-License-Identifier: Apache-2.0
//
// The system calls of an execution that may be rolled back. The kernel sends SIGSYS for every one that is not
// made by the runtime (syscall user dispatch), also for those inside the C library, so nothing is overlooked:
// a call is known to leave nothing behind in this process, or it can be undone, or the process ends after the
// execution.
#pragma once

#include "base/types.h"
#include "runtime/call_patch.h"
#include "trail/execution.h"

namespace duress {

/// Lives in memory that is not put back. Zeros are valid.
struct CallWatch {
  static constexpr int kMostDescriptors = 4096;
  static constexpr int kSignals = 64;

  /// Forgets a process before.
  void reset();
  /// Notes the state that calls may change. False: it cannot be watched here.
  bool prepare();
  /// Looks at calls, or lets all through.
  void watch(bool on) { selector = on ? 1 : 0; }
  /// Whether calls have had no effect so far but on the process's memory.
  bool is_untouched() const;
  /// Undoes what calls have changed. On the first kernel thread.
  void undo();
  /// Nothing is watched any more.
  void give_up();

  u8 selector;
  bool made_descriptors, renamed;
  bool reached_outside;  // a call did something that can be seen outside the process's memory
  bool reached_before;   // one of the last execution did: it may have moved the offset of standard input
  bool moved_stack;      // the alternate stack of signals
  bool set_timer;        // the runtime itself: see preemption_begin()
  u64 changed_signals;   // a bit for each
  u64 mask;
  u64 alternate_stack[3];
  char name[16];
  KernelAction own, actions[kSignals];
  CallPatches patches;
  u64 descriptors[kMostDescriptors / 64];

  bool was_open(long fd) const {
    return fd >= 0 && fd < kMostDescriptors && (descriptors[fd / 64] >> (fd % 64) & 1) != 0;
  }

 private:
  bool find_descriptors();
};

}  // namespace duress
