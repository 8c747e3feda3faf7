// SPDX-License-Identifier: Apache-2.0
//
// Time. Free-running, the real functions; in controlled mode it is virtual: a sleep costs nothing and ends
// when the scheduler says so, a clock goes on a little with every look at it.
#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/control.h"
#include "runtime/interceptors/library_access.h"
#include "runtime/readable_memory.h"
#include "runtime/side_events.h"

using namespace duress;

static constexpr u64 kSecond = 1'000'000'000;

static timespec time_of(u64 nanoseconds) {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

static u64 look(uptr pc) {
  if (scheduler().is_systematic() && !scheduler().explores_timeouts())
    scheduler().limit(exhaustive::StepLog::kClock, {OpKind::kSystem, 0, 0, 0, pc});
  u64 time = scheduler().read_clock();
  if (DURESS_UNLIKELY(scheduler().explores_timeouts())) record_clock_read(pc);
  return time;
}

static int tell_clock(clockid_t clock, timespec* now, uptr pc);
static int tell_timespec(timespec* now, int base, uptr pc);
static int tell_timeval(timeval* now, void* zone, uptr pc);
static time_t tell_time(time_t* out, uptr pc);

DURESS_INTERCEPTOR(int, clock_gettime, (clockid_t clock, timespec* now)) {
  return tell_clock(clock, now, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(int, timespec_get, (timespec * now, int base)) {
  return tell_timespec(now, base, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(int, gettimeofday, (timeval * now, void* zone)) {
  return tell_timeval(now, zone, DURESS_CALLER_PC);
}
DURESS_INTERCEPTOR(time_t, time, (time_t* out)) {
  return tell_time(out, DURESS_CALLER_PC);
}

// As instrumented code calls them (library_calls.def): what they write is its memory.

DURESS_LIBRARY_HOOK int __duress_lib_clock_gettime(const DuressSite* site, clockid_t clock, timespec* now) {
  int result = tell_clock(clock, now, DURESS_CALLER_PC);
  if (result == 0) LibraryAccess(site, DURESS_CALLER_PC).writes(now, sizeof *now);
  return result;
}
DURESS_LIBRARY_HOOK int __duress_lib_timespec_get(const DuressSite* site, timespec* now, int base) {
  int result = tell_timespec(now, base, DURESS_CALLER_PC);
  if (result != 0) LibraryAccess(site, DURESS_CALLER_PC).writes(now, sizeof *now);
  return result;
}
DURESS_LIBRARY_HOOK int __duress_lib_gettimeofday(const DuressSite* site, timeval* now, void* zone) {
  int result = tell_timeval(now, zone, DURESS_CALLER_PC);
  if (result == 0) LibraryAccess(site, DURESS_CALLER_PC).writes(now, sizeof *now);
  return result;
}
DURESS_LIBRARY_HOOK time_t __duress_lib_time(const DuressSite* site, time_t* out) {
  time_t result = tell_time(out, DURESS_CALLER_PC);
  if (result != -1) LibraryAccess(site, DURESS_CALLER_PC).writes(out, sizeof *out);
  return result;
}

static int tell_clock(clockid_t clock, timespec* now, uptr pc) {
  if (!controlled() || clock < 0 || clock > CLOCK_TAI) return DURESS_REAL(clock_gettime)(clock, now);
  *now = time_of(control_clock_start(clock) + look(pc));
  return 0;
}

static int tell_timespec(timespec* now, int base, uptr pc) {
  if (!controlled() || base != TIME_UTC) return DURESS_REAL(timespec_get)(now, base);
  *now = time_of(control_clock_start(CLOCK_REALTIME) + look(pc));
  return base;
}

static int tell_timeval(timeval* now, void* zone, uptr pc) {
  if (!controlled() || zone || !now) return DURESS_REAL(gettimeofday)(now, zone);
  timespec t = time_of(control_clock_start(CLOCK_REALTIME) + look(pc));
  *now = {t.tv_sec, t.tv_nsec / 1000};
  return 0;
}

static time_t tell_time(time_t* out, uptr pc) {
  if (!controlled()) return DURESS_REAL(time)(out);
  auto now = static_cast<time_t>((control_clock_start(CLOCK_REALTIME) + look(pc)) / kSecond);
  if (out) *out = now;
  return now;
}

DURESS_INTERCEPTOR(clock_t, clock, ()) {
  if (!controlled()) return DURESS_REAL(clock)();
  return static_cast<clock_t>(look(DURESS_CALLER_PC) / (kSecond / CLOCKS_PER_SEC));
}

/// 0, or EINTR if a cancellation that is switched off came meanwhile.
static int sleep_until(u64 deadline, uptr pc) {
  control_cancellation_point();
  sched::Strand* self = controlled();
  Operation operation = {OpKind::kSleep, 0, address_of(self), 0, pc};
  auto wake = scheduler().block(operation, address_of(&self->wait.deadline), deadline);
  control_cancellation_point();
  return wake == sched::Wake::kInterrupted ? EINTR : 0;
}

static int sleep_strand(const timespec* duration, timespec* left, uptr pc) {
  u64 deadline = control_timeout(duration);
  int error = sleep_until(deadline, pc);
  if (error && left) *left = time_of(deadline > scheduler().now() ? deadline - scheduler().now() : 0);
  return error;
}

DURESS_INTERCEPTOR(int, nanosleep, (const timespec* duration, timespec* left)) {
  if (!controlled() || !is_readable(duration, sizeof *duration) || !valid_time(duration) ||
      duration->tv_sec < 0)
    return DURESS_REAL(nanosleep)(duration, left);
  int error = sleep_strand(duration, left, DURESS_CALLER_PC);
  if (error) errno = error;
  return error ? -1 : 0;
}

DURESS_INTERCEPTOR(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* t, timespec* left)) {
  if (!controlled() || !is_readable(t, sizeof *t) || !valid_time(t) || t->tv_sec < 0)
    return DURESS_REAL(clock_nanosleep)(clock, flags, t, left);
  if (flags & TIMER_ABSTIME) return sleep_until(control_deadline(clock, t), DURESS_CALLER_PC);
  return sleep_strand(t, left, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, thrd_sleep, (const timespec* duration, timespec* left)) {
  if (!controlled() || !valid_time(duration) || duration->tv_sec < 0)
    return DURESS_REAL(thrd_sleep)(duration, left);
  return sleep_strand(duration, left, DURESS_CALLER_PC) ? -1 : 0;
}

DURESS_INTERCEPTOR(int, usleep, (useconds_t microseconds)) {
  if (!controlled()) return DURESS_REAL(usleep)(microseconds);
  timespec t = time_of(u64{microseconds} * 1000);
  int error = sleep_strand(&t, nullptr, DURESS_CALLER_PC);
  if (error) errno = error;
  return error ? -1 : 0;
}

DURESS_INTERCEPTOR(unsigned, sleep, (unsigned seconds)) {
  if (!controlled()) return DURESS_REAL(sleep)(seconds);
  timespec t = {static_cast<time_t>(seconds), 0}, left = {0, 0};
  sleep_strand(&t, &left, DURESS_CALLER_PC);
  return static_cast<unsigned>(left.tv_sec);
}

DURESS_INTERCEPTOR(int, sched_yield, ()) {
  if (!controlled()) return DURESS_REAL(sched_yield)();
  scheduler().yield(DURESS_CALLER_PC);
  return 0;
}

DURESS_INTERCEPTOR(int, pthread_yield, ()) {
  if (!controlled()) return DURESS_REAL(pthread_yield)();
  scheduler().yield(DURESS_CALLER_PC);
  return 0;
}

DURESS_INTERCEPTOR(void, thrd_yield, ()) {
  if (!controlled()) return DURESS_REAL(thrd_yield)();
  scheduler().yield(DURESS_CALLER_PC);
}
