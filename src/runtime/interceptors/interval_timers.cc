// SPDX-License-Identifier: Apache-2.0
//
// Timers that send signals or call functions. Setting one happens before every run of its handler; in
// controlled mode the scheduler has them, see program_timers.h.
#include <errno.h>
#include <limits.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/interceptors/pool.h"
#include "runtime/interceptors/program_timers.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/signals.h"
#include "runtime/readable_memory.h"

namespace duress {
namespace {

/// Of setitimer; each is made when it is first set.
constinit ProgramTimer* intervals[3] = {};
constexpr int kMostNumbers = 64;
constinit ProgramTimer* numbered[kMostNumbers] = {};  // of timer_create

bool has_timers() {
  return controlled() && !pooled();
}

ProgramTimer* interval_timer(int which) {
  static constexpr int kSignals[] = {SIGALRM, SIGVTALRM, SIGPROF};
  if (intervals[which]) return intervals[which];
  ProgramTimer* timer = take_program_timer();
  if (!timer) return nullptr;
  timer->notifies = ProgramTimer::Notifies::kProcess;
  timer->signal = kSignals[which];
  timer->clock = which == ITIMER_REAL ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
  return intervals[which] = timer;
}

timeval microseconds(const timespec& time) {
  return {time.tv_sec, time.tv_nsec / 1000};
}
u64 nanoseconds_of_value(const timeval& time) {
  return nanoseconds_of(timespec{time.tv_sec, time.tv_usec * 1000});
}
bool valid(const timeval& time) {
  return time.tv_sec >= 0 && time.tv_usec >= 0 && time.tv_usec < 1'000'000;
}

/// The time that was left, in nanoseconds.
u64 set_real_interval(u64 first, u64 interval, uptr pc) {
  ProgramTimer* timer = interval_timer(ITIMER_REAL);
  if (!timer) return 0;
  handler_installed(SIGALRM, pc);
  u64 left = nanoseconds_of(time_left(timer).it_value);
  set_program_timer(timer, first ? scheduler().now() + first : sched::kNever, interval, pc);
  control_point(OpKind::kSystem, nullptr, pc);
  return left;
}

ProgramTimer* find_timer(timer_t id) {
  auto number = reinterpret_cast<uptr>(id);
  return number < kMostNumbers ? numbered[number] : nullptr;
}

/// What threads that have not begun yet are to call; the timer may be gone by then.
struct Call {
  void (*function)(sigval);
  sigval value;
};
constexpr u32 kMostCalls = 1024;
constinit Call calls[kMostCalls] = {};
constinit u32 next_call = 0;

void* call_function(void* data) {
  Call call = *static_cast<Call*>(data);
  call.function(call.value);
  return nullptr;
}

/// The strand of a timer that calls a function: each time on a thread of its own, as the C library does it.
void* serve_timer(void* data) {
  auto* timer = static_cast<ProgramTimer*>(data);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  Operation operation = {OpKind::kSystem, 0, address_of(&timer->expirations), 0, timer->place};
  while (timer->strand == controlled()) {
    if (timer->expirations == 0) {
      scheduler().block(operation, operation.object);
      continue;
    }
    timer->expirations = 0;
    Call& call = calls[next_call++ % kMostCalls];
    call = {timer->function, timer->value};
    pthread_t id;
    pthread_create(&id, &detached, call_function, &call);
  }
  pthread_attr_destroy(&detached);
  return nullptr;
}

/// False: no thread can be made.
bool start_server(ProgramTimer* timer) {
  pthread_t id;
  scheduler().set_creations_are_points(false);
  int failed = pthread_create(&id, nullptr, serve_timer, timer);
  scheduler().set_creations_are_points(true);
  if (failed) return false;
  pthread_detach(id);
  for (sched::Strand* s = scheduler().strands(); s; s = s->next_strand) timer->strand = s;  // the youngest
  __builtin_memcpy(timer->strand->name, "timer", 6);
  return true;
}

/// EINVAL, EAGAIN or 0.
int describe(ProgramTimer* timer, const sigevent* event, uptr pc) {
  using Notifies = ProgramTimer::Notifies;
  timer->place = pc;
  timer->signal = event ? event->sigev_signo : SIGALRM;
  timer->value.sival_ptr = event ? event->sigev_value.sival_ptr : reinterpret_cast<void*>(timer->number);
  switch (event ? event->sigev_notify : SIGEV_SIGNAL) {
    case SIGEV_NONE:
      return 0;
    case SIGEV_SIGNAL:
      timer->notifies = Notifies::kProcess;
      break;
    case SIGEV_THREAD_ID:
      timer->notifies = Notifies::kThread;
      for (sched::Strand* s = scheduler().strands(); s; s = s->next_strand) {
        if (s->kernel.os_id == event->_sigev_un._tid) timer->strand = s;
      }
      if (!timer->strand) return EINVAL;
      break;
    case SIGEV_THREAD:
      timer->notifies = Notifies::kFunction;
      timer->function = event->sigev_notify_function;
      return start_server(timer) ? 0 : EAGAIN;
    default:
      return EINVAL;
  }
  return timer->signal >= 1 && timer->signal <= kMostSignals && !is_fault(timer->signal) ? 0 : EINVAL;
}

int failed(int error) {
  errno = error;
  return -1;
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, setitimer, (int which, const itimerval* time, itimerval* old)) {
  static constexpr int kSignals[] = {SIGALRM, SIGVTALRM, SIGPROF};
  bool known = which >= ITIMER_REAL && which <= ITIMER_PROF;
  if (awake() && known && time) handler_installed(kSignals[which], DURESS_CALLER_PC);
  if (!has_timers() || !known || !time || !is_readable(time, sizeof *time) || !valid(time->it_value) ||
      !valid(time->it_interval))
    return DURESS_REAL(setitimer)(which, time, old);
  ProgramTimer* timer = interval_timer(which);
  if (!timer) return failed(ENOMEM);
  itimerspec left = time_left(timer);
  u64 first = nanoseconds_of_value(time->it_value);
  set_program_timer(timer, first ? scheduler().now() + first : sched::kNever,
                    first ? nanoseconds_of_value(time->it_interval) : 0, DURESS_CALLER_PC);
  if (old) *old = {microseconds(left.it_interval), microseconds(left.it_value)};
  control_point(OpKind::kSystem, nullptr, DURESS_CALLER_PC);
  return 0;
}

DURESS_INTERCEPTOR(int, getitimer, (int which, itimerval* time)) {
  if (!has_timers() || which < ITIMER_REAL || which > ITIMER_PROF || !time)
    return DURESS_REAL(getitimer)(which, time);
  itimerspec left = {};
  if (intervals[which]) left = time_left(intervals[which]);
  *time = {microseconds(left.it_interval), microseconds(left.it_value)};
  return 0;
}

DURESS_INTERCEPTOR(unsigned, alarm, (unsigned seconds)) {
  if (awake()) handler_installed(SIGALRM, DURESS_CALLER_PC);
  if (!has_timers()) return DURESS_REAL(alarm)(seconds);
  u64 left = set_real_interval(u64{seconds} * 1'000'000'000, 0, DURESS_CALLER_PC);
  return static_cast<unsigned>((left + 999'999'999) / 1'000'000'000);
}

DURESS_INTERCEPTOR(useconds_t, ualarm, (useconds_t first, useconds_t interval)) {
  if (awake()) handler_installed(SIGALRM, DURESS_CALLER_PC);
  if (!has_timers()) return DURESS_REAL(ualarm)(first, interval);
  return static_cast<useconds_t>(
      set_real_interval(u64{first} * 1000, u64{interval} * 1000, DURESS_CALLER_PC) / 1000);
}

DURESS_INTERCEPTOR(int, timer_create, (clockid_t clock, sigevent* event, timer_t* id)) {
  if (!has_timers() || !id) return DURESS_REAL(timer_create)(clock, event, id);
  int number = 0;
  while (number < kMostNumbers && numbered[number]) ++number;
  ProgramTimer* timer = number < kMostNumbers ? take_program_timer() : nullptr;
  if (!timer) return failed(EAGAIN);
  timer->clock = clock;
  timer->number = number;
  if (int error = describe(timer, event, DURESS_CALLER_PC)) {
    drop_program_timer(timer);
    return failed(error);
  }
  numbered[number] = timer;
  *id = reinterpret_cast<timer_t>(static_cast<uptr>(number));
  return 0;
}

DURESS_INTERCEPTOR(int, timer_settime, (timer_t id, int flags, const itimerspec* time, itimerspec* old)) {
  if (!has_timers()) return DURESS_REAL(timer_settime)(id, flags, time, old);
  ProgramTimer* timer = find_timer(id);
  if (!timer || !time || !valid_time(&time->it_value) || !valid_time(&time->it_interval))
    return failed(EINVAL);
  if (timer->signal >= 1 && timer->signal <= kMostSignals) handler_installed(timer->signal, DURESS_CALLER_PC);
  itimerspec left = time_left(timer);
  set_program_timer(timer, deadline_of(timer, time->it_value, (flags & TIMER_ABSTIME) != 0),
                    nanoseconds_of(time->it_interval), DURESS_CALLER_PC);
  if (old) *old = left;
  control_point(OpKind::kSystem, nullptr, DURESS_CALLER_PC);
  return 0;
}

DURESS_INTERCEPTOR(int, timer_gettime, (timer_t id, itimerspec* time)) {
  if (!has_timers()) return DURESS_REAL(timer_gettime)(id, time);
  ProgramTimer* timer = find_timer(id);
  if (!timer || !time) return failed(EINVAL);
  *time = time_left(timer);
  return 0;
}

DURESS_INTERCEPTOR(int, timer_getoverrun, (timer_t id)) {
  if (!has_timers()) return DURESS_REAL(timer_getoverrun)(id);
  ProgramTimer* timer = find_timer(id);
  if (!timer) return failed(EINVAL);
  return timer->overruns > INT_MAX ? INT_MAX : static_cast<int>(timer->overruns);
}

DURESS_INTERCEPTOR(int, timer_delete, (timer_t id)) {
  if (!has_timers()) return DURESS_REAL(timer_delete)(id);
  ProgramTimer* timer = find_timer(id);
  if (!timer) return failed(EINVAL);
  numbered[timer->number] = nullptr;
  bool serves = timer->notifies == ProgramTimer::Notifies::kFunction;
  if (serves) {  // its strand ends by itself
    timer->strand = nullptr;
    scheduler().wake(address_of(&timer->expirations));
  }
  drop_program_timer(timer);
  return 0;
}
