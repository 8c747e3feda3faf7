// SPDX-License-Identifier: Apache-2.0
#include "exec/rollback_check.h"

#include <algorithm>
#include <cstring>

#include "exec/files.h"

namespace duress::exec {
namespace {

constexpr u64 kInterval = 1000;

/// What the program did, without what belongs to the process that performed it.
trail::Record behaviour(trail::Record record) {
  record.rollback = trail::Rollback::kNone;
  record.rollback_call = 0;
  record.log_bytes = 0;  // the log names the process
  return record;
}

bool same_step(const exhaustive::Step& x, const exhaustive::Step& y) {
  auto same_touch = [](const exhaustive::Touch& s, const exhaustive::Touch& t) {
    return s.object == t.object && s.before == t.before && s.size == t.size && s.mode == t.mode;
  };
  return x.kind == y.kind && x.flags == y.flags && x.strand == y.strand && x.other == y.other &&
         x.value == y.value && x.expected == y.expected && x.choices == y.choices && x.touches == y.touches &&
         std::equal(x.touch, x.touch + x.touches, y.touch, same_touch);
}

}  // namespace

Observed Observed::of(const Execution& execution, const Captured& captured) {
  return {execution, read_file(captured.output).value_or(""), read_file(captured.errors).value_or("")};
}

bool Observed::equals(const Observed& other) const {
  const Execution &a = execution, &b = other.execution;
  trail::Record left = behaviour(a.record), right = behaviour(b.record);
  return a.status == b.status && a.timed_out == b.timed_out && a.flooded == b.flooded &&
         std::memcmp(&left, &right, sizeof left) == 0 && a.trail == b.trail &&
         std::ranges::equal(a.steps, b.steps, same_step) && a.origins == b.origins && a.spins == b.spins &&
         a.limits == b.limits && a.future_values == b.future_values && a.atomic_profile == b.atomic_profile &&
         a.side_events == b.side_events && output == other.output && errors == other.errors;
}

bool RollbackCheck::is_due(const Execution& execution) {
  bool again = pid_ != 0 && execution.pid == pid_;
  pid_ = execution.record.rollback == trail::Rollback::kDone ? execution.pid : 0;
  if (!again || ++rolled_back_ != next_) return false;
  next_ += next_ < kInterval ? next_ * 9 : kInterval;
  return true;
}

}  // namespace duress::exec
