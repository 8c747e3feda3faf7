// SPDX-License-Identifier: Apache-2.0
//
// Deadlines and clocks of the program as virtual time.
#include "runtime/control.h"

namespace duress {

u64 control_timeout(const timespec* duration) {
  if (!duration) return sched::kNever;
  if (duration->tv_sec > 1'000'000'000) return sched::kNever - 1;
  return scheduler().now() + static_cast<u64>(duration->tv_sec) * 1'000'000'000 +
         static_cast<u64>(duration->tv_nsec);
}

u64 control_deadline(clockid_t clock, const timespec* until) {
  if (!until) return sched::kNever;
  u64 start = control_clock_start(clock);
  if (until->tv_sec < 0) return 0;
  if (static_cast<u64>(until->tv_sec) > 9'000'000'000) return sched::kNever - 1;
  u64 at = static_cast<u64>(until->tv_sec) * 1'000'000'000 + static_cast<u64>(until->tv_nsec);
  return at > start ? at - start : 0;
}

u64 control_clock_start(clockid_t clock) {
  constexpr u64 kSecond = 1'000'000'000;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return 1'600'000'000 * kSecond;  // a day in September 2020
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
      return 0;
    default:
      return 1000 * kSecond;
  }
}

}  // namespace duress
