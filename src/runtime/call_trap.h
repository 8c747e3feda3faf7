// SPDX-License-Identifier: Apache-2.0
//
// System calls as the kernel hands them to the runtime instead of performing them: SIGSYS for every call that
// is not made by raw_syscall(), also from within the C library (syscall user dispatch, Linux 5.11). A byte
// turns it on and off without a system call.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "base/types.h"

namespace duress {

/// As the kernel has it.
struct KernelAction {
  void* handler;
  u64 flags;
  void* restorer;
  u64 mask;
};

/// A call that was trapped: its number and six arguments.
struct TrappedCall {
  TrappedCall(const siginfo_t* info, const ucontext_t& context) {
    const greg_t* r = context.uc_mcontext.gregs;
    words[0] = info->si_syscall;
    const int places[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    for (int i = 0; i < 6; ++i) words[i + 1] = r[places[i]];
  }
  explicit TrappedCall(const long (&call)[7]) {
    for (int i = 0; i < 7; ++i) words[i] = call[i];
  }
  long perform() const;
  long words[7];
};

inline constexpr int kTrapped = 2;  // si_code: SYS_USER_DISPATCH

/// Calls of the calling kernel thread are trapped while *selector is 1. False: the kernel cannot do it.
bool trap_calls(const u8* selector);
/// A handler that returns by a call which is not trapped; it is not blocked while it runs.
bool set_signal_handler(int signal, void (*handler)(int, siginfo_t*, void*), u64 flags, KernelAction* old);
/// The handler of SIGSYS; `old`: the one before.
bool set_trap_handler(void (*handler)(int, siginfo_t*, void*), KernelAction* old);
void restore_trap_handler(const KernelAction& old);

}  // namespace duress
