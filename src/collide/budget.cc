// SPDX-License-Identifier: Apache-2.0
#include "collide/budget.h"

#include <algorithm>
#include <ctime>

namespace duress::collide {
namespace {

constexpr double kMemory = 0.5;       // seconds' worth of credit that is kept
constexpr double kLeastKept = 0.004;  // seconds: some samples, however low the overhead
constexpr double kMostOwed = 0.002;   // seconds: a burst of traps ends here

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Duration own_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

Budget::Budget(Limits limits, Time start) : limits_(limits), start_(start), settled_(start) {}

void Budget::settle(Time now) {
  double passed = seconds(now - settled_);
  settled_ = now;
  if (limits_.per_second > 0) {
    credit_ = std::min(credit_ + passed * limits_.per_second, std::max(1.0, limits_.per_second * kMemory));
    return;
  }
  // Asked is a share of the time that the target needs alone; the clock shows that time and what was lost.
  double share = limits_.overhead / (1 + limits_.overhead);
  credit_ = std::min(credit_ + passed * share, std::max(kLeastKept, share * kMemory));
}

void Budget::spend(Duration cost) {
  spent_ += cost;
  if (limits_.per_second <= 0) credit_ -= seconds(cost);
}

void Budget::sampled(Time now) {
  settle(now);
  if (limits_.per_second > 0) credit_ -= 1;
}

bool Budget::affords(Duration cost, Time now) {
  settle(now);
  return limits_.per_second > 0 ? credit_ >= 1 : limits_.overhead > 0 && credit_ >= seconds(cost);
}

Time Budget::when(Duration cost, Time now) {
  settle(now);
  if (limits_.per_second > 0) {
    double missing = std::max(0.0, 1 - credit_);
    return now + std::chrono::duration_cast<Duration>(to_earn(cost) * missing);
  }
  Duration missing = cost - std::chrono::duration_cast<Duration>(std::chrono::duration<double>(credit_));
  return missing <= Duration::zero() ? now : now + to_earn(missing);
}

Duration Budget::to_earn(Duration cost) const {
  constexpr double kNever = 3600;
  double wait = limits_.per_second > 0 ? 1 / limits_.per_second
                : limits_.overhead > 0 ? seconds(cost) * (1 + limits_.overhead) / limits_.overhead
                                       : kNever;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(wait, kNever)));
}

bool Budget::overdrawn(Time now) {
  settle(now);
  return limits_.per_second <= 0 && credit_ < -kMostOwed;
}

double Budget::overhead(Time now) const {
  double lost = seconds(spent_), passed = seconds(now - start_);
  return passed > lost ? lost / (passed - lost) : 0;
}

}  // namespace duress::collide
