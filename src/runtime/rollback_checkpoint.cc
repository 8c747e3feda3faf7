// SPDX-License-Identifier: Apache-2.0
#include "runtime/rollback_checkpoint.h"

#include <stddef.h>

#include "runtime/access_watch.h"
#include "runtime/rollback_pages.h"

namespace duress {
namespace {

// Not memcmp: it is the C library's, whose tables are among what is put back.
bool equal_bytes(const void* a, const void* b, u64 bytes) {
  const auto* x = static_cast<const char*>(a);
  const auto* y = static_cast<const char*>(b);
  for (u64 i = 0; i < bytes; ++i) {
    if (x[i] != y[i]) return false;
  }
  return true;
}

/// The request as far as it matters before the first choice. The strategy reads the rest there.
void comparable(trail::Request& head) {
  head.pick_count = 0;
  head.exploration_order = {};
  head.priority_strands = 0;
  head.ahead_count = 0;
}

/// As Choices::wanted_at() has it.
u8 wanted_value(const trail::Request& request, u64 step) {
  return step < request.pick_count ? request.picks()[step].value : u8{0};
}

}  // namespace

void Checkpoint::reset(bool on) {
  is_on = on;
  is_valid = resumed = false;
  attempts = mismatches = 0;
}

bool Checkpoint::wanted(const trail::Request& request, const trail::Record& record) const {
  // Races are looked for before the checkpoint and after it, or not at all.
  bool is_usual = !request.learn_accesses && (!request.skip_known || g_access_watch != AccessWatch::kLearn);
  return is_on && is_usual && !is_valid && attempts < kMostAttempts && mismatches < kMostMismatches &&
         request.systematic && request.strategy == StrategyId::kExhaustive && !record.wrote &&
         !record.log_bytes && !record.deviations && !record.future_value_count &&
         !record.atomic_profile_count && !record.uncontrolled && record.side_event_count <= kMostSideEvents;
}

bool Checkpoint::save(const trail::Request& request, const trail::Record& record,
                      const exhaustive::StepLog& log) {
  u64 bytes = request.layout().picks;
  if (bytes > kMostHeadBytes || log.count > kMostSteps) return false;
  head_bytes = static_cast<u32>(bytes);
  copy_bytes(head, &request, bytes);
  comparable(*reinterpret_cast<trail::Request*>(head));
  copy_bytes(&record_, &record, sizeof record);
  copy_bytes(side_events, record.side_events(), record.side_event_count * sizeof *side_events);
  step_count = log.count;
  limits = log.limits;
  strands = log.strands;
  spin_count = log.spins;
  copy_bytes(origins, log.origins, sizeof origins);
  copy_bytes(spin, log.spin, sizeof spin);
  copy_bytes(steps, log.steps, log.count * sizeof *steps);
  u32 number = 0;  // a pick is for a step
  for (u32 i = 0; i < step_count; ++i) {
    if (!steps[i].is(exhaustive::Step::kAfter)) wanted_values[i] = wanted_value(request, number++);
  }
  return true;
}

bool Checkpoint::leads_here(const trail::Request& request, const exhaustive::StepLog& log) const {
  trail::Request other = request;
  comparable(other);
  if (request.layout().picks != head_bytes || !equal_bytes(head, &other, sizeof other) ||
      !equal_bytes(head + sizeof other, &request + 1, head_bytes - sizeof other))
    return false;
  // A strand that the host does not know yet gets the next number; those that it knows must have the same.
  u32 known = log.strands < strands ? log.strands : strands;
  if (log.spins != spin_count || !equal_bytes(log.spin, spin, spin_count * sizeof *spin) ||
      !equal_bytes(log.origins, origins, known * sizeof *origins))
    return false;
  u32 number = 0;
  for (u32 i = 0; i < step_count; ++i) {
    if (steps[i].is(exhaustive::Step::kAfter)) continue;
    if (wanted_value(request, number) != wanted_values[i]) return false;
    if (number < request.pick_count && request.picks()[number].strand != steps[i].strand) return false;
    ++number;
  }
  return true;
}

void Checkpoint::restore(trail::Record& record, exhaustive::StepLog& log) const {
  copy_bytes(&record, &record_, sizeof record);
  record.from_checkpoint = 1;
  copy_bytes(record.side_events(), side_events, record_.side_event_count * sizeof *side_events);
  log.room = exhaustive::kMostSteps;
  log.count = step_count;
  log.limits = limits;
  copy_bytes(log.steps, steps, step_count * sizeof *steps);
  if (log.strands >= strands) return;
  log.strands = strands;
  copy_bytes(log.origins, origins, strands * sizeof *origins);
}

}  // namespace duress
