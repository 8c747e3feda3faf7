// SPDX-License-Identifier: Apache-2.0
//
// Holds what sampling costs the target to what the user asked for.
//
// Everything that takes time from the target is charged: the time its threads are held, the time of a trap,
// and the processor time of the tracer while the target would have had the processor. Credit grows with the
// clock; a sample is taken when it can be paid for. Credit that is not used runs out, so that a quiet hour is
// not followed by a minute of nothing but samples.
#pragma once

#include <chrono>

namespace duress::collide {

using Time = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

/// Processor time of this thread.
Duration own_cpu_time();

struct Limits {
  double overhead = 0.05;  // time lost ÷ time that the target would have needed alone
  double per_second = 0;   // samples a second instead, if above 0; the overhead is then what it is
};

class Budget {
 public:
  Budget(Limits limits, Time start);

  /// `cost` was taken from the target.
  void spend(Duration cost);
  /// A sample was started.
  void sampled(Time now);

  /// Whether a sample that will cost `cost` can be paid for.
  bool affords(Duration cost, Time now);
  /// When that will be so, if nothing else is spent.
  Time when(Duration cost, Time now);
  /// How long it takes to earn `cost`; for a rate, the time between two samples.
  Duration to_earn(Duration cost) const;
  /// Whether so much was spent that even traps must stop.
  bool overdrawn(Time now);

  /// The overhead since the start, as Limits::overhead counts it.
  double overhead(Time now) const;

 private:
  void settle(Time now);

  Limits limits_;
  Time start_, settled_;
  double credit_ = 0;  // seconds of overhead, or samples
  Duration spent_{0};
};

}  // namespace duress::collide
