// SPDX-License-Identifier: Apache-2.0
//
// What rollback itself remembers. It lies in memory that the fork server shares with its children, which is
// not put back.
#pragma once

#include <atomic>

#include "runtime/access_watch.h"
#include "runtime/rollback_calls.h"
#include "runtime/rollback_checkpoint.h"
#include "runtime/rollback_memory.h"

namespace duress {

struct RollbackState {
  static constexpr uptr kAddress = 0x3d0000000000;  // where no program has anything, so nothing else moves
  static constexpr size_t kStackBytes = 65536;

  // Server and child.
  std::atomic<u32> waiting;  // the host waits for the end of an execution
  u32 children, fruitless;   // of these, how many in a row were never rolled back
  // The child.
  bool serving;         // it takes the place of the server
  bool active;          // and the execution can still be undone
  bool undone;          // one was
  bool performs_ahead;  // several executions for one request of the host: rollback_ahead.h
  int in, out, process;
  uptr thread_pointer;  // of the first thread
  int code;             // exit code of the execution
  void *resume, *left;  // where each execution begins; where the last one ended
  trail::Record* record;
  CallWatch calls;
  MemoryImage memory;
  Checkpoint checkpoint;
  KnownAccesses accesses;
  alignas(16) char stack[kStackBytes];
};

extern RollbackState* g_rollback;  // null: none

}  // namespace duress
