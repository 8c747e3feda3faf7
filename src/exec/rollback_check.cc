// SPDX-License-Identifier: Apache-2.0
#include "exec/rollback_check.h"

#include <algorithm>
#include <cstring>

#include "exec/files.h"

namespace duress::exec {
namespace {

// A new process costs about 10 ms until it performs executions as fast as the one before: its image, its page
// faults, its checkpoint. So that is 3 % of the time of short executions.
constexpr u64 kFirst = 1000;
constexpr u64 kInterval = 5000;

/// What the program did, without what belongs to the process that performed it.
trail::Record behaviour(trail::Record record) {
  record.rollback = trail::Rollback::kNone;
  record.rollback_call = record.from_checkpoint = record.races_unchecked = 0;
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

std::string reason_text(trail::Rollback reason, u32 call) {
  switch (reason) {
    case trail::Rollback::kCall:
      return "system call " + std::to_string(call) + " cannot be undone";
    case trail::Rollback::kThreads:
      return "threads were left at its end";
    case trail::Rollback::kOwnThread:
      return "its threads were threads of the system";
    case trail::Rollback::kMappings:
    case trail::Rollback::kMemory:
      return "it wrote too much memory, or its mappings could not be put back";
    case trail::Rollback::kUnsupported:
      return "this machine does not support it, see duress doctor";
    default:
      return "it failed, was the first of its process's server, or rollback is off";
  }
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
         a.side_events == b.side_events && a.observed_pairs == b.observed_pairs &&
         a.switch_points == b.switch_points && output == other.output && errors == other.errors;
}

void RollbackStatistics::add(const trail::Record& record, bool ahead) {
  std::lock_guard guard(lock_);
  ++executions_;
  ahead_ += ahead;
  if (record.rollback == trail::Rollback::kDone)
    ++undone_;
  else
    ++others_[{record.rollback, record.rollback_call}];
}

void RollbackStatistics::add_difference() {
  std::lock_guard guard(lock_);
  ++differences_;
}

std::string RollbackStatistics::warning() const {
  std::lock_guard guard(lock_);
  if (differences_ == 0) return {};
  return "an execution was another one in a new process than in one that was rolled back: rollback was "
         "turned off; "
         "please report this (DURESS_OPTIONS=rollback=0 avoids it)";
}

std::string RollbackStatistics::text() const {
  std::lock_guard guard(lock_);
  std::string text = std::to_string(undone_) + " of " + std::to_string(executions_) +
                     " executions were undone in their process";
  if (ahead_ != 0) text += ", " + std::to_string(ahead_) + " of them before they were asked for";
  for (const auto& [why, count] : others_)
    text += "; " + std::to_string(count) + " not: " + reason_text(why.first, why.second);
  return text;
}

bool RollbackCheck::is_due(const Execution& execution) {
  bool again = pid_ != 0 && execution.pid == pid_;
  pid_ = execution.record.rollback == trail::Rollback::kDone ? execution.pid : 0;
  if (!again || ++rolled_back_ != next_) return false;
  next_ += next_ < kFirst ? next_ * 9 : kInterval;
  return true;
}

}  // namespace duress::exec
