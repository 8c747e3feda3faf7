// SPDX-License-Identifier: Apache-2.0
#include "runtime/call_trap.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/raw.h"

extern "C" {
// Around the section of raw_syscall().
extern const char __start_duress_calls[] __attribute__((visibility("hidden")));
extern const char __stop_duress_calls[] __attribute__((visibility("hidden")));
void duress_return_from_call();
}
// The C library's own way back from a handler would be a call that is trapped.
__asm__(R"(
  .pushsection duress_calls,"ax",@progbits
  .globl duress_return_from_call
  .hidden duress_return_from_call
  .type duress_return_from_call, @function
duress_return_from_call:
    movl $15, %eax  # rt_sigreturn
    syscall
    ud2  # the address behind the call must be in the section too
  .size duress_return_from_call, .-duress_return_from_call
  .popsection
)");

namespace duress {
namespace {

constexpr int kUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
constexpr u64 kHasRestorer = 0x04000000;

long address(const void* p) {
  return reinterpret_cast<long>(p);
}

}  // namespace

long TrappedCall::perform() const {
  return raw_syscall(words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
}

bool trap_calls(const u8* selector) {
  return raw_syscall(SYS_prctl, kUserDispatch, 1, address(__start_duress_calls),
                     __stop_duress_calls - __start_duress_calls, address(selector)) == 0;
}

bool set_signal_handler(int signal, void (*handler)(int, siginfo_t*, void*), u64 flags, KernelAction* old) {
  KernelAction ours = {reinterpret_cast<void*>(handler), flags | SA_SIGINFO | SA_NODEFER | kHasRestorer,
                       reinterpret_cast<void*>(&duress_return_from_call), 0};
  return raw_syscall(SYS_rt_sigaction, signal, address(&ours), address(old), 8) == 0;
}

bool set_trap_handler(void (*handler)(int, siginfo_t*, void*), KernelAction* old) {
  return set_signal_handler(SIGSYS, handler, 0, old);
}

void restore_trap_handler(const KernelAction& old) {
  raw_syscall(SYS_rt_sigaction, SIGSYS, address(&old), 0, 8);
}

}  // namespace duress
