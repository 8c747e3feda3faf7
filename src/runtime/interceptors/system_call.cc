// SPDX-License-Identifier: Apache-2.0
//
// Raw system calls and clone. A futex orders nothing: the atomics on its word carry the order, and those are
// instrumented; but in controlled mode it must not wait in the kernel. What does matter is a thread or a
// process that comes into being, or ends, past the functions that we stand in for. A thread made by a raw
// clone has no thread-local storage we could use: it is named once and the run counts as incomplete.
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

#include "runtime/control.h"
#include "runtime/crash.h"
#include "runtime/interceptors/fork.h"
#include "runtime/interceptors/signals.h"

namespace duress {
namespace {

constexpr unsigned long kSharesMemory = CLONE_VM;

struct CloneStart {
  int (*function)(void*);
  void* argument;
};

/// First in a cloned process, which has its own copy of the creator's stack and so of the argument.
int run_clone(void* data) {
  auto start = *static_cast<CloneStart*>(data);
  leave_fork(/*child=*/true);
  return start.function(start.argument);
}

void leave_fork_keeping_errno(bool child) {
  int saved = errno;
  leave_fork(child);
  errno = saved;
}

/// A futex of a strand. False: a kind that only the kernel can do.
bool futex_strand(long address, long operation, long value, long timeout, long other, long mask, uptr pc,
                  long* result) {
  auto* word = reinterpret_cast<std::atomic<u32>*>(address);
  const auto* time = reinterpret_cast<const timespec*>(timeout);
  long command = operation & FUTEX_CMD_MASK;
  switch (command) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      if (!valid_time(time) ||
          (command == FUTEX_WAIT_BITSET && static_cast<u32>(mask) != FUTEX_BITSET_MATCH_ANY)) {
        return false;
      }
      Operation op = {OpKind::kFutexWait, 0, address_of(word), 0, pc, 0, 0, static_cast<u32>(value)};
      clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
      u64 deadline = command == FUTEX_WAIT ? control_timeout(time) : control_deadline(clock, time);
      sched::WaitEnd end = scheduler().choose_end(op, /*may_be_spurious=*/false, deadline);
      scheduler().point(op);
      sync_futex(word);
      if (word->load() != static_cast<u32>(value)) {
        if (end == sched::WaitEnd::kTimeout) scheduler().timeout_unused();
        scheduler().wait_ended(pc, sched::WaitEnd::kWoken, deadline);
        *result = -EAGAIN;
        return true;
      }
      if (end == sched::WaitEnd::kWoken &&
          scheduler().block(op, op.object, deadline) == sched::Wake::kTimeout)
        end = sched::WaitEnd::kTimeout;
      scheduler().wait_ended(pc, end, deadline);
      *result = end == sched::WaitEnd::kTimeout ? -ETIMEDOUT : 0;
      return true;
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      scheduler().point({OpKind::kFutexWake, 0, address_of(word), 0, pc, 0, 0, static_cast<u32>(value)});
      sync_futex(nullptr);
      *result = static_cast<long>(scheduler().wake(address_of(word), static_cast<u32>(value)));
      return true;
    default:
      (void)other;
      return false;
  }
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, clone, (int (*function)(void*), void* stack, int flags, void* argument, ...)) {
  va_list list;
  va_start(list, argument);
  void *a = va_arg(list, void*), *b = va_arg(list, void*), *c = va_arg(list, void*);
  va_end(list);
  if (awake() && (flags & kSharesMemory)) incomplete("clone");
  if (!awake() || (flags & kSharesMemory))
    return DURESS_REAL(clone)(function, stack, flags, argument, a, b, c);
  CloneStart start = {function, argument};
  enter_fork();
  int pid = DURESS_REAL(clone)(run_clone, stack, flags, &start, a, b, c);
  leave_fork_keeping_errno(/*child=*/false);
  return pid;
}

DURESS_INTERCEPTOR(long, syscall, (long number, ...)) {
  va_list list;
  va_start(list, number);
  long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
  long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  bool forks = false;
  if (awake()) {
    switch (number) {
      case SYS_futex:
        if (long result; controlled()) {
          if (futex_strand(a, b, c, d, e, f, DURESS_CALLER_PC, &result)) {
            if (result >= 0) return result;
            errno = static_cast<int>(-result);
            return -1;
          }
          incomplete("a futex operation that only the kernel can do");
        }
        break;
      case SYS_gettid:
        if (controlled()) return own_thread_number();
        break;
      case SYS_sched_yield:
        if (controlled()) return scheduler().yield(DURESS_CALLER_PC), 0;
        break;
      case SYS_fork:
        forks = true;
        break;
      case SYS_vfork:
        incomplete("vfork by a raw system call");
        break;
      case SYS_clone:
        if (static_cast<unsigned long>(a) & kSharesMemory) {
          incomplete("clone");
        } else {
          forks = true;
        }
        break;
      case SYS_clone3: {
        auto* arguments = reinterpret_cast<const clone_args*>(a);
        if (arguments && (arguments->flags & kSharesMemory)) {
          incomplete("clone");
        } else {
          forks = arguments != nullptr;
        }
        break;
      }
      case SYS_execve:
        before_exec(reinterpret_cast<const char*>(a));
        break;
      case SYS_tkill:
        if (signal_thread(static_cast<int>(a), static_cast<int>(b))) return 0;
        [[fallthrough]];
      case SYS_kill:
        control_sends(static_cast<int>(a), static_cast<int>(b));
        break;
      case SYS_tgkill:
        if (a == process_number() && signal_thread(static_cast<int>(b), static_cast<int>(c))) return 0;
        control_sends(static_cast<int>(a), static_cast<int>(c));
        break;
      case SYS_exit_group:
        control_settle(DURESS_CALLER_PC);
        process_ending(static_cast<int>(a));
        break;
      default:
        break;
    }
  }
  if (!forks) return DURESS_REAL(syscall)(number, a, b, c, d, e, f);
  enter_fork();
  long result = DURESS_REAL(syscall)(number, a, b, c, d, e, f);
  leave_fork_keeping_errno(result == 0);
  return result;
}

/// The number of the kernel thread that runs the strand is not the strand's.
DURESS_INTERCEPTOR(pid_t, gettid, ()) {
  return controlled() ? own_thread_number() : DURESS_REAL(gettid)();
}
