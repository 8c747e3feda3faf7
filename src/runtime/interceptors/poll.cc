// SPDX-License-Identifier: Apache-2.0
//
// Waiting for descriptors. In controlled mode nothing waits in the kernel: the scheduler asks, whenever it
// picks the next strand, which descriptors are ready. So what one strand writes wakes the reader at once, and
// the same schedule gives the same wake-ups.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/interceptors/library_imports.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/signals.h"
#include "runtime/readable_memory.h"

namespace duress {

/// The mask of signals of ppoll() and its like, while it lives.
class MaskDuring {
 public:
  explicit MaskDuring(const sigset_t* mask) : before_(controlled()->signals.blocked), changed_(mask) {
    if (mask) controlled()->signals.blocked = mask_of(mask);
  }
  ~MaskDuring() {
    if (!changed_) return;
    sched::Strand* s = controlled();
    s->signals.blocked = before_;
    if (pending_signals(*s) & ~before_) deliver_signals(*s);
  }
  MaskDuring(const MaskDuring&) = delete;
  MaskDuring& operator=(const MaskDuring&) = delete;

 private:
  u64 before_;
  bool changed_;
};

/// Waits until one of the descriptors is ready, or time is over. False: a signal has ended the wait; it does
/// not if it `restarts` and the handler says so.
static bool await_any(pollfd* descriptors, u32 count, uptr pc, u64 deadline, bool restarts = false,
                      const sigset_t* mask = nullptr) {
  Operation operation = {OpKind::kSystem, 0, 0, 0, pc};
  scheduler().point(operation);
  control_cancellation_point();
  u32 handlers = controlled()->signals.handlers;
  MaskDuring masked(mask);
  if (mask && pending_signals(*controlled()) & ~controlled()->signals.blocked) deliver_signals(*controlled());
  // A child answers when it likes. Given a little time it has nearly always answered here and now, and the
  // execution is the same again; without children nobody but a strand can make a descriptor ready.
  constexpr int kChildMilliseconds = 200;
  int patience = control_has_children() ? kChildMilliseconds : 0;
  if (deadline != sched::kNever) patience = 0;
  if (raw_syscall(SYS_poll, reinterpret_cast<long>(descriptors), count, patience) > 0) return true;
  if (patience) incomplete("a wait for another process that took long: replays may differ");
  for (;;) {
    if (control_interrupted(handlers, restarts)) return false;
    auto wake = scheduler().block_on_descriptors(operation, descriptors, count, deadline);
    if (wake == sched::Wake::kTimeout) return true;
    if (wake == sched::Wake::kInterrupted) {
      control_cancellation_point();
      continue;
    }
    // Of several that a descriptor wakes the first may have taken what there was; the others wait on.
    if (raw_syscall(SYS_poll, reinterpret_cast<long>(descriptors), count, 0) != 0) return true;
  }
}

static int interrupted() {
  errno = EINTR;
  return -1;
}

bool control_await_descriptor(int fd, short events, uptr pc) {
  if (!controlled()) return true;
  int saved = errno;
  long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
  bool goes_on = true;
  if (flags >= 0 && !(flags & O_NONBLOCK)) {
    pollfd one = {fd, events, 0};
    goes_on = await_any(&one, 1, pc, sched::kNever, /*restarts=*/true);
  }
  errno = goes_on ? saved : EINTR;
  return goes_on;
}

u64 control_deadline_in(i64 milliseconds) {
  return milliseconds < 0 ? sched::kNever : scheduler().now() + static_cast<u64>(milliseconds) * 1'000'000;
}

bool control_await_epoll(int set, u64 deadline, uptr pc, const sigset_t* mask) {
  pollfd one = {set, POLLIN, 0};
  return await_any(&one, 1, pc, deadline, /*restarts=*/false, mask) || interrupted() == 0;
}

}  // namespace duress

using namespace duress;

// Whoever is told that a descriptor can be read comes after the write, whether it reads or not.

/// What poll reads of the array, and what it answers there.
static void asking(const pollfd* descriptors, nfds_t count, uptr pc) {
  if (!awake() || !is_instrumented_code(pc)) return;
  for (nfds_t i = 0; i < count; ++i)
    memory_accessed(&descriptors[i], offsetof(pollfd, revents), /*write=*/false, pc);
}
static int answered(int result, const pollfd* descriptors, nfds_t count, uptr pc) {
  if (result < 0 || !awake()) return result;
  for (nfds_t i = 0; i < count; ++i) {
    if (descriptors[i].revents & ~POLLOUT) sync_acquire_fd(descriptors[i].fd, pc);
  }
  if (!is_instrumented_code(pc)) return result;
  for (nfds_t i = 0; i < count; ++i)
    memory_accessed(&descriptors[i].revents, sizeof descriptors[i].revents, /*write=*/true, pc);
  return result;
}

DURESS_INTERCEPTOR(int, poll, (pollfd * descriptors, nfds_t count, int timeout)) {
  asking(descriptors, count, DURESS_CALLER_PC);
  if (controlled() && is_readable(descriptors, count * sizeof *descriptors)) {
    if (!await_any(descriptors, static_cast<u32>(count), DURESS_CALLER_PC, control_deadline_in(timeout)))
      return interrupted();
    timeout = 0;
  }
  return answered(DURESS_REAL(poll)(descriptors, count, timeout), descriptors, count, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, ppoll,
                   (pollfd * descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask)) {
  asking(descriptors, count, DURESS_CALLER_PC);
  timespec none = {0, 0};
  if (controlled() && is_readable(descriptors, count * sizeof *descriptors) && is_readable_or_null(timeout) &&
      valid_time(timeout)) {
    if (!await_any(descriptors, static_cast<u32>(count), DURESS_CALLER_PC, control_timeout(timeout),
                   /*restarts=*/false, mask))
      return interrupted();
    timeout = &none;
  }
  return answered(DURESS_REAL(ppoll)(descriptors, count, timeout, mask), descriptors, count,
                  DURESS_CALLER_PC);
}

static bool are_readable(const fd_set* in, const fd_set* out, const fd_set* other) {
  return is_readable_or_null(in) && is_readable_or_null(out) && is_readable_or_null(other);
}

/// The sets of select as an array for poll; null if there are too many.
static u32 listed(int count, const fd_set* in, const fd_set* out, const fd_set* other, pollfd* list,
                  u32 most) {
  u32 n = 0;
  for (int fd = 0; fd < count && n < most; ++fd) {
    short events = 0;
    if (in && FD_ISSET(fd, in)) events |= POLLIN;
    if (out && FD_ISSET(fd, out)) events |= POLLOUT;
    if (other && FD_ISSET(fd, other)) events |= POLLPRI;
    if (events) list[n++] = {fd, events, 0};
  }
  return n;
}

static int selected(int result, int count, const fd_set* in, uptr pc) {
  if (result <= 0 || !awake() || !in) return result;
  for (int fd = 0; fd < count && fd < FD_SETSIZE; ++fd) {
    if (FD_ISSET(fd, in)) sync_acquire_fd(fd, pc);
  }
  return result;
}

DURESS_INTERCEPTOR(int, select, (int count, fd_set* in, fd_set* out, fd_set* other, timeval* timeout)) {
  timeval none = {0, 0};
  if (controlled() && are_readable(in, out, other) && is_readable_or_null(timeout)) {
    pollfd list[FD_SETSIZE];
    u32 n = listed(count, in, out, other, list, FD_SETSIZE);
    u64 deadline = timeout ? scheduler().now() + static_cast<u64>(timeout->tv_sec) * 1'000'000'000 +
                                 static_cast<u64>(timeout->tv_usec) * 1000
                           : sched::kNever;
    if (!await_any(list, n, DURESS_CALLER_PC, deadline)) return interrupted();
    timeout = &none;
  }
  return selected(DURESS_REAL(select)(count, in, out, other, timeout), count, in, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pselect,
                   (int count, fd_set* in, fd_set* out, fd_set* other, const timespec* timeout,
                    const sigset_t* mask)) {
  timespec none = {0, 0};
  if (controlled() && are_readable(in, out, other) && is_readable_or_null(timeout) && valid_time(timeout)) {
    pollfd list[FD_SETSIZE];
    u32 n = listed(count, in, out, other, list, FD_SETSIZE);
    if (!await_any(list, n, DURESS_CALLER_PC, control_timeout(timeout), /*restarts=*/false, mask))
      return interrupted();
    timeout = &none;
  }
  return selected(DURESS_REAL(pselect)(count, in, out, other, timeout, mask), count, in, DURESS_CALLER_PC);
}

/// Before a wait for a child: waits for it by a descriptor, if it can be named by one. False: a signal has
/// ended the wait.
static bool await_child(pid_t pid, int options, uptr pc) {
  if (!controlled() || pid <= 0 || (options & WNOHANG)) return true;
  int saved = errno;
  long fd = raw_syscall(SYS_pidfd_open, pid, 0);
  if (fd >= 0) {
    pollfd one = {static_cast<int>(fd), POLLIN, 0};
    bool goes_on = await_any(&one, 1, pc, sched::kNever, /*restarts=*/true);
    raw_syscall(SYS_close, fd);
    if (!goes_on) return interrupted() == 0;
  }
  errno = saved;
  return true;
}

DURESS_INTERCEPTOR(pid_t, waitpid, (pid_t pid, int* status, int options)) {
  if (!await_child(pid, options, DURESS_CALLER_PC)) return -1;
  return DURESS_REAL(waitpid)(pid, status, options);
}

DURESS_INTERCEPTOR(pid_t, wait4, (pid_t pid, int* status, int options, rusage* usage)) {
  if (!await_child(pid, options, DURESS_CALLER_PC)) return -1;
  return DURESS_REAL(wait4)(pid, status, options, usage);
}
