// SPDX-License-Identifier: Apache-2.0
#include "runtime/rollback_calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/raw.h"
#include "runtime/rollback.h"
#include "runtime/rollback_state.h"
#include "runtime/thread_emulation.h"

namespace duress {
namespace {

long address(const void* p) {
  return reinterpret_cast<long>(p);
}
u64 bit_of(long signal) {
  return u64{1} << (signal - 1);
}

enum class Effect : u8 {
  kNone,         // none
  kOutside,      // none that is undone: it reads or changes what the process shares with others
  kDescriptors,  // makes a descriptor
  kMemory,       // raw_syscall() tells the image of memory
  kLasting,      // cannot be undone
};

/// Of calls whose effect does not depend on their arguments. Files, sockets and other processes are not
/// rolled back, as they are not by a new process.
Effect effect_of(long number) {
  switch (number) {
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getppid:
    case SYS_uname:
    case SYS_getrlimit:
    case SYS_sched_yield:
    case SYS_sched_getaffinity:
    case SYS_sched_getparam:
    case SYS_sched_getscheduler:
    case SYS_sched_get_priority_max:
    case SYS_sched_get_priority_min:
    case SYS_membarrier:
      return Effect::kNone;
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_lseek:
    case SYS_fstat:
    case SYS_stat:
    case SYS_lstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_access:
    case SYS_faccessat:
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_getcwd:
    case SYS_getdents64:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_rename:
    case SYS_sendto:
    case SYS_recvfrom:
    case SYS_sendmsg:
    case SYS_recvmsg:
    case SYS_connect:
    case SYS_bind:
    case SYS_listen:
    case SYS_shutdown:
    case SYS_getsockname:
    case SYS_getpeername:
    case SYS_getsockopt:
    case SYS_setsockopt:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_ctl:
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
    case SYS_getpgrp:
    case SYS_sysinfo:
    case SYS_getrusage:
    case SYS_times:
    case SYS_time:
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_gettimeofday:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_getrandom:
    case SYS_getcpu:
      return Effect::kOutside;
    case SYS_open:
    case SYS_openat:
    case SYS_pipe:
    case SYS_pipe2:
    case SYS_dup:
    case SYS_socket:
    case SYS_socketpair:
    case SYS_accept:
    case SYS_accept4:
    case SYS_epoll_create1:
    case SYS_eventfd2:
    case SYS_memfd_create:
    case SYS_timerfd_create:
    case SYS_timerfd_settime:
      return Effect::kDescriptors;
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_madvise:
    case SYS_brk:
      return Effect::kMemory;
    default:
      return Effect::kLasting;
  }
}

/// The others.
Effect effect_with(CallWatch& watch, const long (&call)[7]) {
  switch (call[0]) {
    case SYS_close:
      return watch.was_open(call[1]) ? Effect::kLasting : Effect::kOutside;
    case SYS_dup2:
    case SYS_dup3:
      return watch.was_open(call[2]) ? Effect::kLasting : Effect::kDescriptors;
    case SYS_fcntl:
      switch (call[2]) {
        case F_DUPFD:
        case F_DUPFD_CLOEXEC:
          return Effect::kDescriptors;
        case F_GETFD:
        case F_GETFL:
        case F_SETFL:
          return Effect::kOutside;
        default:
          return watch.was_open(call[1]) ? Effect::kLasting : Effect::kOutside;
      }
    case SYS_futex:
      switch (call[2] & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAKE:
        case FUTEX_WAIT_BITSET:
        case FUTEX_WAKE_BITSET:
        case FUTEX_REQUEUE:
        case FUTEX_CMP_REQUEUE:
        case FUTEX_WAKE_OP:
          return Effect::kNone;
        default:
          return Effect::kLasting;  // the kernel knows the holder
      }
    case SYS_prlimit64:
      return call[3] == 0 ? Effect::kNone : Effect::kLasting;
    case SYS_ioctl:
      return call[2] == 0x5401 /* TCGETS */ || call[2] == 0x541b /* FIONREAD */ ? Effect::kOutside
                                                                                : Effect::kLasting;
    case SYS_prctl:
      if (call[1] == PR_SET_NAME) watch.renamed = true;
      return call[1] == PR_SET_NAME || call[1] == PR_GET_NAME ? Effect::kNone : Effect::kLasting;
    case SYS_rt_sigaction:
      if (call[1] < 1 || call[1] > CallWatch::kSignals || call[1] == SIGSYS) return Effect::kLasting;
      if (call[2] != 0 && (watch.changed_signals & bit_of(call[1])) == 0) {
        raw_syscall(SYS_rt_sigaction, call[1], 0, address(&watch.actions[call[1] - 1]), 8);
        watch.changed_signals |= bit_of(call[1]);
      }
      return Effect::kNone;
    case SYS_sigaltstack:
      watch.moved_stack = true;
      return Effect::kNone;
    case SYS_rt_sigprocmask:
      return Effect::kNone;
    default:
      return effect_of(call[0]);
  }
}

/// What interrupted code has blocked is what is blocked here, because the handler blocks nothing.
void keep_mask(ucontext_t& context) {
  u64 mask = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, address(&mask), sizeof mask);
  mask &= ~bit_of(SIGSYS);
  *reinterpret_cast<u64*>(&context.uc_sigmask) = mask;
}

/// Whether the mask of signals in the context is the new one. A call that cannot be undone begins again, with
/// nobody looking.
bool handle_call(const TrappedCall& trapped, ucontext_t& context) {
  greg_t* r = context.uc_mcontext.gregs;
  CallWatch& watch = g_rollback->calls;
  const auto& call = trapped.words;
  if (call[0] == SYS_exit_group) {
    rollback_end(static_cast<int>(call[1]));
    exit_process(static_cast<int>(call[1]));
  }
  if (emulate_call(trapped, context)) return false;
  Effect effect = effect_with(watch, call);
  if (effect == Effect::kLasting) {
    rollback_refuse(trail::Rollback::kCall, call[0]);
    r[REG_RIP] -= 2;  // the same instruction again, which nobody looks at any more
    return false;
  }
  if (effect == Effect::kDescriptors) watch.made_descriptors = true;
  if (effect == Effect::kOutside) watch.reached_outside = true;
  r[REG_RAX] = trapped.perform();
  bool writes = call[0] == SYS_write || call[0] == SYS_writev || call[0] == SYS_pwrite64;
  if (writes || call[0] == SYS_ftruncate) g_rollback->record->wrote = 1;
  if (writes && (r[REG_RAX] < 0 || (call[0] == SYS_write && r[REG_RAX] < call[3])))
    g_rollback->record->write_failed = 1;
  if (call[0] == SYS_rt_sigprocmask) keep_mask(context);
  return call[0] == SYS_rt_sigprocmask;
}

void on_call(int, siginfo_t* info, void* data) {
  auto& context = *static_cast<ucontext_t*>(data);
  if (info->si_code != kTrapped) {  // sent by somebody
    rollback_refuse(trail::Rollback::kCall, SYS_rt_sigaction);
    raw_syscall(SYS_tgkill, process_number(), thread_number(), SIGSYS);
    return;
  }
  TrappedCall trapped(info, context);
  g_rollback->calls.patches.note(static_cast<uptr>(context.uc_mcontext.gregs[REG_RIP]), trapped.words[0]);
  handle_call(trapped, context);
}

}  // namespace

void CallWatch::reset() {
  selector = 0;
  made_descriptors = renamed = reached_outside = reached_before = moved_stack = set_timer = false;
  changed_signals = 0;
  for (u64& word : descriptors) word = 0;
}

bool CallWatch::find_descriptors() {
  long fd = raw_syscall(SYS_openat, AT_FDCWD, address("/proc/self/fd"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  struct Entry {
    u64 inode, offset;
    u16 bytes;
    u8 type;
    char name[];
  };
  alignas(8) char buffer[4096];
  bool all = true;
  for (long n; (n = raw_syscall(SYS_getdents64, fd, address(buffer), sizeof buffer)) > 0;) {
    for (long at = 0; at < n;) {
      auto* entry = reinterpret_cast<Entry*>(buffer + at);
      at += entry->bytes;
      if (entry->name[0] == '.') continue;
      long number = 0;
      for (const char* c = entry->name; *c; ++c) number = number * 10 + (*c - '0');
      if (number == fd) continue;
      if (number >= kMostDescriptors) {
        all = false;
      } else {
        descriptors[number / 64] |= u64{1} << (number % 64);
      }
    }
  }
  raw_syscall(SYS_close, fd);
  return all;
}

bool CallWatch::prepare() {
  if (!find_descriptors()) return false;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, address(&mask), sizeof mask);
  raw_syscall(SYS_sigaltstack, 0, address(alternate_stack));
  raw_syscall(SYS_prctl, PR_GET_NAME, address(name));
  if ((mask & bit_of(SIGSYS)) != 0) return false;
  return set_trap_handler(on_call, &own) && trap_calls(&selector);
}

bool CallWatch::is_untouched() const {
  if (made_descriptors || renamed || reached_outside || changed_signals != 0) return false;
  u64 mask_now = 0, stack_now[3] = {};
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, address(&mask_now), sizeof mask_now);
  raw_syscall(SYS_sigaltstack, 0, address(stack_now));
  return mask_now == mask && stack_now[0] == alternate_stack[0] && stack_now[2] == alternate_stack[2];
}

void CallWatch::undo() {
  reached_before = reached_outside;
  reached_outside = false;
  for (; changed_signals != 0; changed_signals &= changed_signals - 1) {
    int at = __builtin_ctzll(changed_signals);
    raw_syscall(SYS_rt_sigaction, at + 1, address(&actions[at]), 0, 8);
  }
  if (made_descriptors) {
    // What was not open before, in as few calls as there are gaps.
    for (long fd = 0; fd < kMostDescriptors;) {
      if (descriptors[fd / 64] == ~u64{0} || was_open(fd)) {
        fd += descriptors[fd / 64] == ~u64{0} ? 64 - fd % 64 : 1;
        continue;
      }
      long end = fd;
      while (end < kMostDescriptors && !was_open(end)) end += descriptors[end / 64] == 0 ? 64 - end % 64 : 1;
      raw_syscall(SYS_close_range, fd, end >= kMostDescriptors ? long{~0u} : end - 1, 0);
      fd = end;
    }
    made_descriptors = false;
  }
  if (renamed) raw_syscall(SYS_prctl, PR_SET_NAME, address(name));
  renamed = false;
  if (moved_stack) raw_syscall(SYS_sigaltstack, address(alternate_stack), 0);
  moved_stack = false;
  // Always: one that ends in a handler leaves the mask as the kernel has set it for that.
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, address(&mask), 0, sizeof mask);
}

void CallWatch::give_up() {
  watch(false);
  patches.undo();
  restore_trap_handler(own);
}

}  // namespace duress

using namespace duress;

/// `exit` and `exit_group`. Comes back if the process is not rolled back any more: the call is then made
/// where it was.
static __attribute__((noinline)) void on_last_call(PatchedCall* call) {
  int code = static_cast<int>(call->arguments[0]);
  if (call->number_or_result == SYS_exit_group) {
    rollback_end(code);
    exit_process(code);
  }
  emulate_exit();
  rollback_refuse(trail::Rollback::kCall, SYS_exit);
  call->after = call->site;
}

DURESS_PLAIN_CODE int duress_on_plain_call(PatchedCall* call) {
  RollbackState* s = g_rollback;
  if (!s || !s->active || s->calls.selector == 0) return 0;
  long number = call->number_or_result;
  if (number == SYS_exit || number == SYS_exit_group) {
    on_last_call(call);  // vector registers do not matter any more
    return 1;
  }
  return emulate_plain_call(number, call->arguments, &call->number_or_result) ? 1 : 0;
}

void duress_on_patched_call(PatchedCall* call) {
  const long words[7] = {call->number_or_result, call->arguments[0], call->arguments[1], call->arguments[2],
                         call->arguments[3],     call->arguments[4], call->arguments[5]};
  TrappedCall trapped(words);
  bool watched = rollback_watches_calls() && g_rollback->calls.selector != 0;
  if (!may_be_patched(words[0]) || (!watched && words[0] == SYS_clone3)) {
    if (g_rollback) g_rollback->calls.patches.undo();
    call->after = call->site;
    return;
  }
  if (!watched) {
    call->number_or_result = trapped.perform();
    return;
  }
  ucontext_t context;
  _libc_fpstate floats;
  context.uc_mcontext.fpregs = &floats;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(floats.mxcsr), "=m"(floats.cwd));
  greg_t* r = context.uc_mcontext.gregs;
  r[REG_RIP] = static_cast<greg_t>(call->after);
  r[REG_RAX] = words[0];
  r[REG_RDX] = words[3];
  r[REG_R8] = words[5];
  r[REG_RBX] = static_cast<greg_t>(call->rbx);
  r[REG_RBP] = static_cast<greg_t>(call->rbp);
  bool new_mask = handle_call(trapped, context);
  if (new_mask) raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, address(&context.uc_sigmask), 0, 8);
  if (r[REG_RIP] != static_cast<greg_t>(call->after)) {
    call->after = call->site;  // which is as it was
  } else {
    call->number_or_result = r[REG_RAX];
  }
}
