// SPDX-License-Identifier: Apache-2.0
#include "sched/context.h"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "base/raw.h"

namespace duress::sched {

extern "C" {
/// 1: `wrfsbase` may be used (CPU and kernel allow it). Read by the assembly below.
__attribute__((visibility("hidden"), used)) char duress_fs_by_instruction = 0;
}

// Callee-saved registers and the control words of both floating-point units are what a call must keep.
__asm__(R"(
  .text
  .macro DURESS_KEEP
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
  .endm
  .macro DURESS_GO_ON
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
  .endm

  .globl duress_context_switch
  .hidden duress_context_switch
  .type duress_context_switch, @function
duress_context_switch:
    DURESS_KEEP
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    cmpb $0, duress_fs_by_instruction(%rip)
    je 1f
    wrfsbase %rdx
    DURESS_GO_ON
1:  movq %rdx, %rsi
    movl $0x1002, %edi  # ARCH_SET_FS
    movl $158, %eax     # arch_prctl
    syscall
    DURESS_GO_ON
  .size duress_context_switch, .-duress_context_switch

  .globl duress_context_leave
  .hidden duress_context_leave
  .type duress_context_leave, @function
duress_context_leave:
    .cfi_startproc
    DURESS_KEEP
    movq %rsp, (%rdi)
    # For debuggers: a thread that waits on its parking stack was called from the stack it has left. The
    # functions that run there keep rbx.
    movq %rsp, %rbx
    .cfi_def_cfa %rbx, 64
    .cfi_offset %rbp, -16
    .cfi_offset %rbx, -24
    .cfi_offset %r12, -32
    .cfi_offset %r13, -40
    .cfi_offset %r14, -48
    .cfi_offset %r15, -56
    movq %rsi, %rsp
    movq %rdx, %rax
    movq %rcx, %rdi
    movq %r8, %rsi
    xorl %ebp, %ebp
    callq *%rax
    ud2
    .cfi_endproc
  .size duress_context_leave, .-duress_context_leave

  .globl duress_context_resume
  .hidden duress_context_resume
  .type duress_context_resume, @function
duress_context_resume:
    movq %rdi, %rsp
    DURESS_GO_ON
  .size duress_context_resume, .-duress_context_resume
)");

uptr thread_pointer() {
  uptr value;
  __asm__("movq %%fs:0, %0" : "=r"(value));  // the ABI keeps it there
  return value;
}

void set_thread_pointer(uptr value) {
  if (duress_fs_by_instruction) {
    __asm__ volatile("wrfsbase %0" : : "r"(value) : "memory");
    return;
  }
  raw_syscall(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(value));
}

void prepare_contexts() {
  constexpr unsigned long kFsGsBase = 2;  // HWCAP2_FSGSBASE
  duress_fs_by_instruction = (getauxval(AT_HWCAP2) & kFsGsBase) != 0;
}

}  // namespace duress::sched
