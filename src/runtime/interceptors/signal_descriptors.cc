// SPDX-License-Identifier: Apache-2.0
//
// Timers and signals that are read from descriptors. In controlled mode the kernel knows neither, so others
// stand in for them: for a timer an eventfd, which counts and is read in the same way; for signals a pipe,
// into which they are written as they come.
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/raw.h"
#include "runtime/interceptors/descriptor_use.h"
#include "runtime/interceptors/pool.h"
#include "runtime/interceptors/program_timers.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/signals.h"
#include "runtime/readable_memory.h"

namespace duress {
namespace {

constexpr int kMostDescriptors = 1024;
constinit ProgramTimer* timer_descriptors[kMostDescriptors] = {};

struct SignalDescriptor {
  int reader = -1, writer = -1;
  u64 mask = 0;
};
constexpr int kMostSignalDescriptors = 8;
constinit SignalDescriptor signal_descriptors[kMostSignalDescriptors] = {};

bool stands_in() {
  return controlled() && !pooled();
}

ProgramTimer* timer_of(int fd) {
  return fd >= 0 && fd < kMostDescriptors ? timer_descriptors[fd] : nullptr;
}

int failed(int error) {
  errno = error;
  return -1;
}

long call_on(int fd, long call, long a = 0, long b = 0) {
  return raw_syscall(call, fd, a, b);
}

void write_signal(const SignalDescriptor& to, const siginfo_t& info) {
  signalfd_siginfo record = {};
  record.ssi_signo = static_cast<u32>(info.si_signo);
  record.ssi_code = info.si_code;
  record.ssi_pid = static_cast<u32>(process_number());
  if (info.si_code == SI_TIMER) {
    record.ssi_tid = static_cast<u32>(info.si_timerid);
    record.ssi_overrun = static_cast<u32>(info.si_overrun);
    record.ssi_int = info.si_value.sival_int;
    record.ssi_ptr = reinterpret_cast<u64>(info.si_value.sival_ptr);
  }
  call_on(to.writer, SYS_write, reinterpret_cast<long>(&record), sizeof record);
}

/// Signals that came before the descriptor.
void write_pending(const SignalDescriptor& to) {
  siginfo_t info;
  while (take_pending_signal(to.mask, &info)) write_signal(to, info);
}

SignalDescriptor* free_signal_descriptor() {
  for (SignalDescriptor& d : signal_descriptors) {
    if (d.reader < 0) return &d;
  }
  return nullptr;
}

/// The writing end is a high number, which the program's own do not meet.
int make_signal_descriptor(u64 mask, int flags) {
  SignalDescriptor* d = free_signal_descriptor();
  int ends[2];
  if (!d) return failed(ENFILE);
  long result = raw_syscall(SYS_pipe2, reinterpret_cast<long>(ends), flags & (O_NONBLOCK | O_CLOEXEC));
  if (result < 0) return failed(static_cast<int>(-result));
  long writer = call_on(ends[1], SYS_fcntl, F_DUPFD_CLOEXEC, 512);
  call_on(ends[1], SYS_close);
  if (writer < 0) {
    call_on(ends[0], SYS_close);
    return failed(EMFILE);
  }
  call_on(static_cast<int>(writer), SYS_fcntl, F_SETFL, O_NONBLOCK);
  *d = {ends[0], static_cast<int>(writer), mask};
  write_pending(*d);
  return d->reader;
}

}  // namespace

bool signal_descriptor_takes(int signal) {
  for (const SignalDescriptor& d : signal_descriptors) {
    if (d.reader < 0 || !(d.mask & signal_bit(signal))) continue;
    siginfo_t info = info_of(signal);
    bool more = true;
    while (more) {
      more = program_timer_sent(signal, &info);
      write_signal(d, info);
    }
    return true;
  }
  return false;
}

void timer_descriptor_copied(int fd, int copy) {
  ProgramTimer* timer = timer_of(fd);
  if (!timer || copy < 0 || copy >= kMostDescriptors) return;
  timer_descriptors[copy] = timer;
  ++timer->descriptors;
}

void timer_descriptor_closed(int fd) {
  for (SignalDescriptor& d : signal_descriptors) {
    if (d.reader != fd || fd < 0) continue;
    call_on(d.writer, SYS_close);
    d = {};
  }
  ProgramTimer* timer = timer_of(fd);
  if (!timer) return;
  timer_descriptors[fd] = nullptr;
  if (--timer->descriptors == 0) return drop_program_timer(timer);
  for (int other = 0; timer->descriptor == fd && other < kMostDescriptors; ++other) {
    if (timer_descriptors[other] == timer) timer->descriptor = other;
  }
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, timerfd_create, (int clock, int flags)) {
  bool ours = stands_in();
  int fd =
      ours ? eventfd(0, flags & (TFD_NONBLOCK | TFD_CLOEXEC)) : DURESS_REAL(timerfd_create)(clock, flags);
  if (!ours || fd < 0) {
    if (awake() && fd >= 0) {
      sync_forget_fd(fd);
      descriptor_made(fd);
      sync_pair_fds(fd, fd);
    }
    return fd;
  }
  ProgramTimer* timer = fd < kMostDescriptors ? take_program_timer() : nullptr;
  if (!timer) {
    close(fd);
    return failed(EMFILE);
  }
  timer->notifies = ProgramTimer::Notifies::kDescriptor;
  timer->clock = clock;
  timer->descriptor = fd;
  timer->descriptors = 1;
  timer_descriptors[fd] = timer;
  return fd;
}

// What comes before the timer is set happens before the read that it ends.

DURESS_INTERCEPTOR(int, timerfd_settime, (int fd, int flags, const itimerspec* time, itimerspec* old)) {
  if (awake()) sync_release_fd(fd, DURESS_CALLER_PC);
  ProgramTimer* timer = stands_in() ? timer_of(fd) : nullptr;
  if (!timer) return DURESS_REAL(timerfd_settime)(fd, flags, time, old);
  if (!is_readable(time, sizeof *time)) return failed(EFAULT);
  if (!valid_time(&time->it_value) || !valid_time(&time->it_interval)) return failed(EINVAL);
  itimerspec left = time_left(timer);
  u64 expired;  // before it is set again: nobody is told any more
  long mode = call_on(fd, SYS_fcntl, F_GETFL);
  call_on(fd, SYS_fcntl, F_SETFL, mode | O_NONBLOCK);
  call_on(fd, SYS_read, reinterpret_cast<long>(&expired), sizeof expired);
  call_on(fd, SYS_fcntl, F_SETFL, mode);
  set_program_timer(timer, deadline_of(timer, time->it_value, (flags & TFD_TIMER_ABSTIME) != 0),
                    nanoseconds_of(time->it_interval), DURESS_CALLER_PC);
  if (old) *old = left;
  control_point(OpKind::kSystem, nullptr, DURESS_CALLER_PC);
  return 0;
}

DURESS_INTERCEPTOR(int, timerfd_gettime, (int fd, itimerspec* time)) {
  ProgramTimer* timer = stands_in() ? timer_of(fd) : nullptr;
  if (!timer || !time) return DURESS_REAL(timerfd_gettime)(fd, time);
  *time = time_left(timer);
  return 0;
}

DURESS_INTERCEPTOR(int, signalfd, (int fd, const sigset_t* mask, int flags)) {
  if (!stands_in() || !mask) return DURESS_REAL(signalfd)(fd, mask, flags);
  if (fd < 0) return make_signal_descriptor(mask_of(mask), flags);
  for (SignalDescriptor& d : signal_descriptors) {
    if (d.reader != fd) continue;
    d.mask = mask_of(mask);
    write_pending(d);
    return fd;
  }
  return DURESS_REAL(signalfd)(fd, mask, flags);
}
