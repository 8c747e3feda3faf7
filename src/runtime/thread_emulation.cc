// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_emulation.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/robust_mutexes.h"
#include "runtime/rollback.h"
#include "sched/context.h"

extern "C" void duress_after_clone();
// A new strand begins behind the C library's `clone3`, with the result 0. What the code there expects in
// registers that a call need not keep comes in others.
__asm__(R"(
  .text
  .globl duress_after_clone
  .hidden duress_after_clone
  .type duress_after_clone, @function
duress_after_clone:
    movq %r12, %rdx
    movq %r13, %r8
    xorl %eax, %eax
    jmpq *%r14
  .size duress_after_clone, .-duress_after_clone
)");

namespace duress {
namespace {

enum class Phase : u8 {
  kNone,
  kCreation,  // in pthread_create, or in the new strand before it has arrived
  kEnd,       // in the C library's end of a thread
  kNumbers,   // EmulatedNumbers
};
constinit Phase phase = Phase::kNone;

/// The creator and the new strand take turns: each runs until it has to wait for the other.
struct Creation {
  sched::KernelThread* kernel;
  int number;
  bool deferred;  // it begins later: see emulation_warm_up()
  bool cloned, in_child, arrived;
  void *creator, *child;
  uptr creator_storage, child_storage;
};
constinit Creation creation = {};
constinit sched::KernelThread* ending = nullptr;

// ---- trapping, where rollback does not do it anyway

struct Trap {
  u8 selector;
  bool open;
  u64 mask;
  KernelAction old;
};
constinit Trap trap = {};

constexpr u64 kTrapBit = u64{1} << (SIGSYS - 1);

long address(const void* p) {
  return reinterpret_cast<long>(p);
}

void on_trapped(int, siginfo_t* info, void* data) {
  if (info->si_code != kTrapped) return;
  auto& context = *static_cast<ucontext_t*>(data);
  TrappedCall call(info, context);
  if (!emulate_call(call, context)) context.uc_mcontext.gregs[REG_RAX] = call.perform();
}

void open_trap() {
  if (rollback_watches_calls()) return;
  trap.open = true;
  u64 bit = kTrapBit;
  raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, address(&bit), address(&trap.mask), sizeof bit);
  set_trap_handler(on_trapped, &trap.old);
  trap_calls(&trap.selector);
  trap.selector = 1;
}

void close_trap() {
  if (!trap.open) return;
  trap.selector = 0;
  trap.open = false;
  restore_trap_handler(trap.old);
  if (trap.mask & kTrapBit)
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, address(&trap.mask), 0, sizeof trap.mask);
}

// ---- creation

void go_to_other_side() {
  creation.in_child = !creation.in_child;
  if (creation.in_child) {
    sched::duress_context_switch(&creation.creator, creation.child, creation.child_storage);
  } else {
    sched::duress_context_switch(&creation.child, creation.creator, creation.creator_storage);
  }
}

/// A frame from which duress_context_switch() goes on behind the call, on the new stack.
void* first_frame(uptr stack_end, const ucontext_t& context) {
  const greg_t* r = context.uc_mcontext.gregs;
  const _libc_fpstate* floats = context.uc_mcontext.fpregs;
  auto* frame = reinterpret_cast<u64*>(stack_end) - 8;
  frame[0] = floats->mxcsr | static_cast<u64>(floats->cwd) << 32;
  frame[1] = 0;                             // r15
  frame[2] = static_cast<u64>(r[REG_RIP]);  // r14
  frame[3] = static_cast<u64>(r[REG_R8]);   // r13
  frame[4] = static_cast<u64>(r[REG_RDX]);  // r12
  frame[5] = static_cast<u64>(r[REG_RBX]);
  frame[6] = static_cast<u64>(r[REG_RBP]);
  frame[7] = reinterpret_cast<u64>(&duress_after_clone);
  return frame;
}

bool clone_strand(u64 flags, uptr stack_begin, uptr stack_end, int* parent_word, int* child_word,
                  uptr storage, ucontext_t& context) {
  if (phase != Phase::kCreation || creation.cloned || !(flags & CLONE_THREAD)) return false;
  sched::KernelThread& kernel = *creation.kernel;
  kernel.os_id = creation.number;
  kernel.stack_begin = stack_begin;
  if (flags & CLONE_PARENT_SETTID) *parent_word = kernel.os_id;
  if (flags & CLONE_CHILD_SETTID) *child_word = kernel.os_id;
  if (flags & CLONE_CHILD_CLEARTID) kernel.number_word = child_word;
  // The C library has told the kernel the same of the first thread, before anybody listened.
  sched::KernelThread& first = creation.deferred ? kernel : scheduler().strands()->kernel;
  if (!creation.deferred)
    first.number_word =
        reinterpret_cast<int*>(first.thread_pointer + (reinterpret_cast<uptr>(child_word) - storage));
  creation.cloned = true;
  creation.child = first_frame(stack_end, context);
  creation.child_storage = storage;
  creation.creator_storage = sched::thread_pointer();
  if (!creation.deferred) go_to_other_side();
  context.uc_mcontext.gregs[REG_RAX] = kernel.os_id;
  return true;
}

// ---- the end

bool exit_strand() {
  sched::KernelThread* self = phase == Phase::kCreation && creation.in_child ? creation.kernel : ending;
  if (!self || phase == Phase::kNumbers) return false;
  visit_robust_mutexes(*self, mark_abandoned);
  if (self->number_word) *self->number_word = 0;
  if (phase == Phase::kCreation) {  // the C library has given it up
    creation.arrived = true;
    go_to_other_side();
    __builtin_unreachable();
  }
  phase = Phase::kNone;
  ending = nullptr;
  close_trap();
  scheduler().leave_ended();
}

// ---- other calls

/// Whether the thread could have that policy. It does not matter where one runs at a time.
long try_policy(const long (&call)[7]) {
  sched_param before = {};
  long policy = raw_syscall(SYS_sched_getscheduler, 0);
  raw_syscall(SYS_sched_getparam, 0, address(&before));
  long result = call[0] == SYS_sched_setparam ? raw_syscall(SYS_sched_setparam, 0, call[2])
                                              : raw_syscall(SYS_sched_setscheduler, 0, call[2], call[3]);
  if (result == 0) raw_syscall(SYS_sched_setscheduler, 0, policy, address(&before));
  return result;
}

bool answer_for_number(const long (&call)[7], long* result) {
  switch (call[0]) {
    case SYS_sched_setaffinity:
      *result = 0;
      return true;
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
      *result = try_policy(call);
      return true;
    case SYS_sched_getaffinity:
    case SYS_sched_getparam:
    case SYS_sched_getscheduler:
      *result = raw_syscall(call[0], 0, call[2], call[3]);
      return true;
    default:
      return false;
  }
}

/// Nothing else is registered with the kernel: it would write into a thread that is gone.
DURESS_PLAIN_CODE void refuse_restartable_sequences(long area) {
  constexpr u32 kRegistrationFailed = ~u32{1};
  reinterpret_cast<u32*>(area)[1] = kRegistrationFailed;  // rseq::cpu_id: the C library then asks the kernel
}

void note_robust_list(void* head) {
  if (phase != Phase::kCreation || !creation.in_child) return;
  creation.kernel->robust_list = head;
  if (creation.deferred) return;
  sched::KernelThread& first = scheduler().strands()->kernel;
  first.robust_list =
      reinterpret_cast<void*>(first.thread_pointer + (reinterpret_cast<uptr>(head) - creation.child_storage));
}

bool waits(const long (&call)[7]) {
  if (call[0] == SYS_sched_yield) return true;
  long command = call[2] & FUTEX_CMD_MASK;
  return call[0] == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

}  // namespace

bool emulation_possible() {
  sched::prepare_contexts();
  if (rollback_watches_calls()) return true;
  trap.selector = 0;
  return trap_calls(&trap.selector);
}

void emulation_without_rollback() {
  if (phase != Phase::kNone) open_trap();
}

void emulate_exit() {
  if (phase != Phase::kNone) exit_strand();
}

DURESS_PLAIN_CODE bool emulate_plain_call(long number, const long (&arguments)[6], long* result) {
  if (phase != Phase::kCreation && phase != Phase::kEnd) return false;
  switch (number) {
    case SYS_rt_sigprocmask:
      if (arguments[3] != sizeof(u64)) return false;
      if (arguments[2]) *reinterpret_cast<u64*>(arguments[2]) = 0;
      break;
    case SYS_rseq:
      refuse_restartable_sequences(arguments[0]);
      break;
    case SYS_madvise:
      if (phase != Phase::kEnd || arguments[2] != MADV_DONTNEED) return false;
      break;
    default:
      return false;
  }
  *result = 0;
  return true;
}

bool emulate_call(const TrappedCall& trapped, ucontext_t& context) {
  if (phase == Phase::kNone) return false;
  const auto& call = trapped.words;
  greg_t& result = context.uc_mcontext.gregs[REG_RAX];
  long value = 0;
  if (is_emulated_number(call[1]) && answer_for_number(call, &value)) {
    result = value;
    return true;
  }
  if (phase == Phase::kNumbers) return false;
  switch (call[0]) {
    case SYS_clone3: {
      const auto* a = reinterpret_cast<const clone_args*>(call[1]);
      return clone_strand(a->flags, a->stack, a->stack + a->stack_size, reinterpret_cast<int*>(a->parent_tid),
                          reinterpret_cast<int*>(a->child_tid), a->tls, context);
    }
    case SYS_clone:
      return clone_strand(static_cast<u64>(call[1]), 0, static_cast<uptr>(call[2]),
                          reinterpret_cast<int*>(call[3]), reinterpret_cast<int*>(call[4]),
                          static_cast<uptr>(call[5]), context);
    case SYS_exit:
      return exit_strand();
    case SYS_rt_sigprocmask:  // the strand's mask is the scheduler's, the kernel thread's is all strands'
      if (call[3]) memset(reinterpret_cast<void*>(call[3]), 0, static_cast<size_t>(call[4]));
      break;
    case SYS_rseq:
      refuse_restartable_sequences(call[1]);
      break;
    case SYS_madvise:  // the stack of a thread that ends: the C library will use it again
      if (phase != Phase::kEnd || call[3] != MADV_DONTNEED) return false;
      break;
    case SYS_set_robust_list:
      note_robust_list(reinterpret_cast<void*>(call[1]));
      break;
    default:
      if (!waits(call) || phase != Phase::kCreation || !creation.cloned || creation.arrived) return false;
      go_to_other_side();
      break;
  }
  result = 0;
  return true;
}

void emulation_warm_up(int count, bool (*create)(int index), void (*join)(int index)) {
  constexpr int kMost = 32;
  if (!emulation_possible()) return;
  sched::KernelThread kernels[kMost];
  Creation begun[kMost];
  if (count > kMost) count = kMost;
  phase = Phase::kCreation;
  open_trap();
  for (int i = 0; i < count; ++i) {
    creation = {};
    creation.kernel = &kernels[i];
    creation.number = kFirstEmulatedNumber + 1 + i;
    creation.deferred = true;
    if (!create(i)) count = i;
    begun[i] = creation;
  }
  for (int i = 0; i < count; ++i) {
    creation = begun[i];
    if (!creation.arrived) go_to_other_side();  // comes back with its end
  }
  phase = Phase::kNone;
  close_trap();
  for (int i = 0; i < count; ++i) join(i);
}

EmulatedCreation::EmulatedCreation(sched::Strand* strand)
    : emulates_(strand && scheduler().emulates_threads()) {
  if (!emulates_) {
    rollback_refuse(trail::Rollback::kOwnThread);
    return;
  }
  creation = {};
  creation.kernel = &strand->kernel;
  creation.number = kFirstEmulatedNumber + static_cast<int>(strand->number);
  phase = Phase::kCreation;
  open_trap();
}

void EmulatedCreation::succeeded() {
  while (emulates_ && !creation.arrived) go_to_other_side();
}

EmulatedCreation::~EmulatedCreation() {
  if (!emulates_) return;
  phase = Phase::kNone;
  close_trap();
}

void emulation_arrive(sched::Strand* strand) {
  creation.arrived = true;
  creation.in_child = false;
  scheduler().arrive(strand, creation.creator, creation.creator_storage);
}

void emulation_end(sched::Strand* strand) {
  ending = &strand->kernel;
  phase = Phase::kEnd;
  open_trap();
}

EmulatedNumbers::EmulatedNumbers()
    : trapped_(controlled() && scheduler().emulates_threads() && phase == Phase::kNone) {
  if (!trapped_) return;
  phase = Phase::kNumbers;
  open_trap();
}

EmulatedNumbers::~EmulatedNumbers() {
  if (!trapped_) return;
  phase = Phase::kNone;
  close_trap();
}

}  // namespace duress
