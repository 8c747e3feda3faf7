// SPDX-License-Identifier: Apache-2.0
//
// Stack frames that are gone. Below the stack pointer of the code that called into the runtime no frame of
// its thread is left, whether it runs or waits, and none at all on the stack of a thread that has ended. What
// lies above it is not judged: another frame may be there by now.
#pragma once

#include "runtime/control.h"

namespace duress {

struct Runtime;
struct Thread;

/// The stack pointer of the program's code that called the hook which runs; 0: not known.
extern constinit thread_local uptr t_hook_frame __attribute__((tls_model("initial-exec")));

/// For one access: the next one has to be told anew.
inline uptr take_hook_frame() {
  const uptr frame = t_hook_frame;
  t_hook_frame = 0;
  return frame;
}

/// While it lives, the calling strand may be parked in a call from code with this stack pointer; 0: not
/// known.
class CallerFrame {
 public:
  explicit CallerFrame(uptr frame) : strand_(controlled()) {
    if (strand_) strand_->caller_frame = frame;
  }
  ~CallerFrame() {
    if (strand_) strand_->caller_frame = 0;
  }
  CallerFrame(const CallerFrame&) = delete;
  CallerFrame& operator=(const CallerFrame&) = delete;

 private:
  sched::Strand* strand_;
};

/// Whether the address is on a stack, but in no frame. `frame`: of the calling thread `t`, which
/// duress::check may not have (null).
bool is_gone(Runtime& runtime, const Thread* t, uptr address, uptr frame, Tid* owner);
/// Whether the address is on the stack of a thread that has not ended.
bool is_on_stack(Runtime& runtime, uptr address);

}  // namespace duress
