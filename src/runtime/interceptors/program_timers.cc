// SPDX-License-Identifier: Apache-2.0
#include "runtime/interceptors/program_timers.h"

#include <sys/syscall.h>

#include "base/raw.h"
#include "runtime/interceptors/signals.h"

namespace duress {
namespace {

constexpr u64 kSecond = 1'000'000'000;
constexpr int kMostTimers = 64;
constinit ProgramTimer timers[kMostTimers] = {};

/// Tells the program. Called by the scheduler while no strand runs.
void notify(ProgramTimer& timer, u64 times) {
  using Notifies = ProgramTimer::Notifies;
  timer.expirations += times;
  switch (timer.notifies) {
    case Notifies::kNothing:
      break;
    case Notifies::kProcess:
      timer.sent = true;
      note_for_process(timer.signal);
      break;
    case Notifies::kThread:
      timer.sent = true;
      if (timer.strand) note_for_strand(timer.strand, timer.signal);
      break;
    case Notifies::kFunction:
      scheduler().wake(address_of(&timer.expirations));
      break;
    case Notifies::kDescriptor:
      raw_syscall(SYS_write, timer.descriptor, reinterpret_cast<long>(&times), sizeof times);
      timer.expirations = 0;
      break;
  }
  scheduler().changed();
}

void expire(sched::Strand& alarm) {
  auto& timer = *static_cast<ProgramTimer*>(alarm.alarm.owner);
  u64 times = 1;
  u64 due = timer.deadline;
  timer.deadline = sched::kNever;
  if (timer.interval) {
    u64 now = scheduler().now();
    if (now > due) times += (now - due) / timer.interval;
    timer.deadline = due + times * timer.interval;
    scheduler().set_alarm(&alarm, timer.deadline, timer.place);
  }
  notify(timer, times);
}

bool is_processor_clock(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

}  // namespace

ProgramTimer* take_program_timer() {
  for (ProgramTimer& timer : timers) {
    if (timer.used) continue;
    sched::Strand* alarm = timer.alarm;
    timer = {};
    timer.used = true;
    timer.alarm = alarm ? alarm : scheduler().make_alarm(expire, &timer);
    return &timer;
  }
  return nullptr;
}

void drop_program_timer(ProgramTimer* timer) {
  set_program_timer(timer, sched::kNever, 0, 0);
  timer->used = timer->sent = false;
}

void set_program_timer(ProgramTimer* timer, u64 deadline, u64 interval, uptr pc) {
  timer->deadline = deadline;
  timer->interval = interval;
  timer->place = pc;
  timer->expirations = 0;
  bool signals = timer->notifies == ProgramTimer::Notifies::kProcess ||
                 timer->notifies == ProgramTimer::Notifies::kThread;
  // A signal that ends the process is a watchdog: that it may bite early says nothing about the program.
  timer->alarm->alarm.early = !(signals && kills(timer->signal));
  timer->alarm->alarm.processor_time = is_processor_clock(timer->clock);
  scheduler().set_alarm(timer->alarm, deadline, pc);
}

u64 nanoseconds_of(const timespec& time) {
  if (time.tv_sec > 1'000'000'000) return 1'000'000'000 * kSecond;
  return static_cast<u64>(time.tv_sec) * kSecond + static_cast<u64>(time.tv_nsec);
}

static timespec time_of(u64 nanoseconds) {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

u64 deadline_of(const ProgramTimer* timer, const timespec& time, bool absolute) {
  if (time.tv_sec == 0 && time.tv_nsec == 0) return sched::kNever;
  return absolute ? control_deadline(timer->clock, &time) : scheduler().now() + nanoseconds_of(time);
}

itimerspec time_left(const ProgramTimer* timer) {
  itimerspec left = {};
  left.it_interval = time_of(timer->interval);
  if (timer->deadline == sched::kNever) return left;
  u64 now = scheduler().now();
  left.it_value = time_of(timer->deadline > now ? timer->deadline - now : 1);
  return left;
}

void control_forget_timers() {
  for (ProgramTimer& timer : timers) {
    timer.deadline = sched::kNever;
    timer.interval = 0;
    timer.sent = false;
  }
}

bool program_timer_sent(int signal, siginfo_t* info) {
  ProgramTimer* first = nullptr;
  bool queued = false;
  for (ProgramTimer& timer : timers) {
    if (!timer.used || !timer.sent || timer.signal != signal) continue;
    if (first && signal >= SIGRTMIN) queued = true;
    if (first && signal >= SIGRTMIN) continue;
    timer.sent = false;
    timer.overruns = timer.expirations ? timer.expirations - 1 : 0;
    timer.expirations = 0;
    if (!first) first = &timer;
  }
  if (!first) return false;
  info->si_code = SI_TIMER;
  info->si_timerid = first->number;
  info->si_overrun = static_cast<int>(first->overruns);
  info->si_value = first->value;
  return queued;
}

}  // namespace duress
