// SPDX-License-Identifier: Apache-2.0
#include "sched/spin_detector.h"

#include "base/prng.h"
#include "exhaustive/silent.h"
#include "sched/callbacks.h"
#include "sched/strand.h"

namespace duress::sched {

using exhaustive::Mode;
using exhaustive::Step;
using exhaustive::StepLog;

namespace {

/// A loop that changes its local state each time, and nothing else, is cut off after this many iterations.
constexpr u32 kMostRepeats = 200;

u64 place_of(const Operation& operation) {
  return mix(operation.place ^ raw(operation.kind));
}

exhaustive::Touch touch_of(const SpinState::Read& read) {
  return {read.object, 0, read.size ? read.size : 1, Mode::kRead};
}

bool awaits(const Strand& s) {
  return s.state != Strand::State::kEnded && s.spin.awaits;
}

}  // namespace

void SpinDetector::at_step(Strand& s) {
  SpinState& spin = s.spin;
  spin.awaits = false;
  if (spin.wrote) spin.forget();
  u64 place = place_of(s.next), key = mix(place ^ s.next.object);
  bool known = everywhere_;
  for (u32 i = 0; i < log_->spins; ++i) known |= log_->spin[i] == place;
  s.at_await = known;
  SpinState::Visit* visit = nullptr;
  for (u32 i = 0; i < spin.visit_count; ++i) {
    if (spin.visits[i].key == key) visit = &spin.visits[i];
  }
  if (!visit) {
    if (spin.visit_count == SpinState::kMostVisits) spin.forget();
    spin.visits[spin.visit_count++] = {key, known ? callbacks_.local_state(s) : 0, spin.read_count, 0};
    return;
  }
  ++visit->repeats;
  if (!known) {
    if (log_->spins < StepLog::kMostSpins) log_->spin[log_->spins++] = place;
    visit->reads = spin.read_count;
    return;
  }
  u64 state = callbacks_.local_state(s);
  bool same = state != 0 && state == visit->state && spin.locked == 0;
  if (!same && visit->repeats > kMostRepeats) {
    limit_spinning(s);
    same = true;
  }
  if (same) await_reads(s, visit->reads);
  visit->state = state;
  visit->reads = spin.read_count;
}

void SpinDetector::limit_spinning(const Strand& s) const {
  const bool first = !(log_->limits & StepLog::kSpinning);
  log_->limits |= StepLog::kSpinning;
  if (first && callbacks_.limited) callbacks_.limited(StepLog::kSpinning, s.next);
}

/// It waits until another strand writes to something that it has read since `first`.
void SpinDetector::await_reads(Strand& s, u32 first) const {
  SpinState& spin = s.spin;
  if (first >= spin.read_count) return;  // it read too many things to remember, or none
  u32 distinct = 0;
  for (u32 i = first; i < spin.read_count; ++i) {
    bool again = false;
    for (u32 k = first; k < i; ++k) again |= spin.reads[k].object == spin.reads[i].object;
    distinct += !again;
  }
  if (distinct >= Step::kMostTouches) {
    limit_spinning(s);
    return;
  }
  spin.first = first;
  spin.awaits = true;
}

void SpinDetector::performed(SpinState& spin, const Step& step) const {
  u32 size = 0;
  switch (step.kind) {
    case OpKind::kRead:
    case OpKind::kWrite:
    case OpKind::kAtomicRead:
    case OpKind::kAtomicWrite:
    case OpKind::kAtomicRmw:  // if it changes something, forget() is called when it does
      size = step.touch[0].size;
      break;
    case OpKind::kLock:
    case OpKind::kReadLock:
      ++spin.locked;
      break;
    case OpKind::kTryLock:
    case OpKind::kTryReadLock:
      spin.locked += step.touch[0].mode == Mode::kWrite;
      break;
    case OpKind::kUnlock:
      if (spin.locked) --spin.locked;
      break;
    case OpKind::kOnce:
    case OpKind::kTryAcquire:
      if (step.touch[0].mode == Mode::kRead) break;
      [[fallthrough]];
    default:
      spin.forget();
      return;
  }
  if (spin.read_count == SpinState::kMostReads) {
    spin.forget();
    return;
  }
  spin.reads[spin.read_count++] = {step.touch[0].object, size, log_->count};
}

bool SpinDetector::sees_change(const Strand& s) const {
  for (u32 i = s.spin.first; i < s.spin.read_count; ++i) {
    const SpinState::Read& read = s.spin.reads[i];
    for (u32 e = read.at; e < log_->count; ++e) {
      const Step& step = log_->steps[e];
      if (step.is(Step::kAfter) || step.strand == s.id || exhaustive::silent(step)) continue;
      for (u32 t = 0; t < step.touches; ++t) {
        if (exhaustive::conflict(step.touch[t], touch_of(read))) return true;
      }
    }
  }
  return false;
}

// What strands that wait did in their last iterations changes nothing, so it lets no other one go on: two
// that exchange the same value at a lock that nobody releases wait for ever.
bool SpinDetector::misses_newer_store(const Strand* strands) const {
  u32 waits_since[exhaustive::kMostStrands];
  for (u32& since : waits_since) since = ~0u;
  for (const Strand* s = strands; s; s = s->next_strand) {
    if (awaits(*s)) waits_since[s->id] = s->spin.reads[s->spin.first].at - 1;
  }
  for (const Strand* s = strands; s; s = s->next_strand) {
    if (!awaits(*s)) continue;
    for (u32 i = s->spin.first; i < s->spin.read_count; ++i) {
      const SpinState::Read& read = s->spin.reads[i];
      // `at` is the entry after the read itself.
      if (read.at > 0 && log_->steps[read.at - 1].value != 0) return true;
      for (u32 e = read.at; e < log_->count; ++e) {
        const Step& step = log_->steps[e];
        if (step.is(Step::kAfter) || step.strand == s->id || step.value != 0 || step.touches == 0) continue;
        if (e >= waits_since[step.strand]) continue;
        if (exhaustive::conflict(step.touch[0], touch_of(read))) return true;
      }
    }
  }
  return false;
}

bool SpinDetector::lost_trylock(const Strand* strands) const {
  for (const Strand* s = strands; s; s = s->next_strand) {
    if (!awaits(*s)) continue;
    u32 first = s->spin.reads[s->spin.first].at;
    for (u32 i = s->spin.first; i < s->spin.read_count; ++i) {
      const SpinState::Read& read = s->spin.reads[i];
      if (read.size != 0 || read.at == 0 || log_->steps[read.at - 1].touch[0].mode != Mode::kWrite) continue;
      for (u32 e = first > 0 ? first - 1 : 0; e < log_->count; ++e) {
        const Step& step = log_->steps[e];
        bool tries = step.kind == OpKind::kTryLock || step.kind == OpKind::kTryReadLock;
        if (step.is(Step::kAfter) || step.strand == s->id || !tries) continue;
        if (step.touch[0].object == read.object && step.touch[0].mode == Mode::kRead) return true;
      }
    }
  }
  return false;
}

}  // namespace duress::sched
