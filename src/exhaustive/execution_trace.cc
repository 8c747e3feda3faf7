// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/execution_trace.h"

#include "base/check.h"
#include "base/prng.h"
#include "exhaustive/silent.h"

namespace duress::exhaustive {

namespace {

constexpr u32 kTouches = Step::kMostTouches;

constexpr u64 granule_of(u64 object) {
  return object >> 4;
}

}  // namespace

ExecutionTrace::ExecutionTrace(Arena& arena)
    : entries_(arena), clocks_(arena), positions_(arena), touched_(arena), stores_(arena), heads_(arena) {
  heads_.resize(256);
  clear();
}

void ExecutionTrace::clear() {
  entries_.clear();
  clocks_.clear();
  positions_.clear();
  for (i64& last : last_) last = -1;
  for (Head& head : heads_) head = {0, -1};
  heads_used_ = 0;
}

/// -1 for memory that was never touched. Granule 0 marks a free slot.
i64& ExecutionTrace::head(u64 granule) {
  u32 mask = heads_.size() - 1;
  u32 at = static_cast<u32>(mix(granule)) & mask;
  while (heads_[at].granule != granule) {
    if (heads_[at].granule == 0) {
      ++heads_used_;
      heads_[at] = {granule, -1};
      break;
    }
    at = (at + 1) & mask;
  }
  return heads_[at].touch;
}

/// Makes room for the objects of one more step: drops granules that no entry touches, doubles if most are
/// in use.
void ExecutionTrace::make_room() {
  if (DURESS_LIKELY((heads_used_ + kTouches) * 2 < heads_.size())) return;
  u32 live = 0;
  for (const Head& head : heads_) live += head.touch >= 0;
  if (live * 4 > heads_.size()) heads_.resize(heads_.size() * 2);
  for (Head& head : heads_) head = {0, -1};
  heads_used_ = 0;
  for (u32 i = 0; i < entries_.size(); ++i) {
    const Step& step = entries_[i].step;
    for (u32 t = 0; t < step.touches; ++t) {
      head(granule_of(step.touch[t].object)) = i64{i} * kTouches + t;
    }
  }
}

void ExecutionTrace::pop() {
  const Entry& e = entries_.last();
  for (u32 t = e.step.touches; t-- > 0;) head(granule_of(e.step.touch[t].object)) = e.link[t];
  last_[e.step.strand] = e.last;
  entries_.cut(entries_.size() - 1);
  clocks_.cut(entries_.size() * width_);
}

void ExecutionTrace::cut(u32 depth) {
  if (depth >= positions_.size()) {
    // Entries after the last step will be added again.
    u32 size = positions_.size() ? positions_.last() + 1 : 0;
    while (entries_.size() > size) pop();
    return;
  }
  u32 size = depth ? positions_[depth - 1] + 1 : 0;
  while (entries_.size() > size) pop();
  positions_.cut(depth);
}

/// Widens the clocks for a strand with a higher number.
void ExecutionTrace::widen(u32 strand) {
  u32 width = width_;
  while (width <= strand) width *= 2;
  clocks_.resize(entries_.size() * width);
  for (u32 i = entries_.size(); i-- > 0;) {
    for (u32 k = width; k-- > 0;) clocks_[i * width + k] = k < width_ ? clocks_[i * width_ + k] : 0;
  }
  width_ = width;
}

/// Whether the step was enabled before that entry, which conflicts with it.
bool ExecutionTrace::could_precede(const Step& step, u32 earlier) const {
  if (step.is(Step::kAwaits) && !written_without(step, earlier)) return false;
  if (!may_wait(step.kind)) return true;
  const Step& other = entries_[earlier].step;
  for (u32 t = 0; t < other.touches; ++t) {
    if (overlap(other.touch[t], step.touch[0])) return enabled(step.kind, other.touch[t].before);
  }
  return true;
}

/// For await loops: whether there is another write since the strand's polls, one that does not depend on the
/// earlier step.
bool ExecutionTrace::written_without(const Step& step, u32 earlier) const {
  i64 last = last_[step.strand];
  u32 own = last >= 0 ? entries_[static_cast<u32>(last)].index : 0;
  u32 first = own > step.other ? own - step.other : 0;  // its later entries are polls
  for (u32 t = 0; t < step.touches; ++t) {
    i64 at = const_cast<ExecutionTrace*>(this)->head(granule_of(step.touch[t].object));
    bool polled = false;
    bool between = false;  // a write before one of its polls; counts if there is an earlier poll
    for (; at >= 0; at = entries_[static_cast<u32>(at / kTouches)].link[at % kTouches]) {
      u32 i = static_cast<u32>(at / kTouches);
      const Step& other = entries_[i].step;
      if (!overlap(other.touch[at % kTouches], step.touch[t])) continue;
      if (other.strand == step.strand) {
        if (entries_[i].index <= first) break;
        if (at % kTouches != 0) continue;  // it awaited this object, but did not read it
        if (between) return true;
        polled = true;
        continue;
      }
      if (other.touch[at % kTouches].mode != Mode::kWrite || silent(other)) continue;
      if (i == earlier || before(earlier, i)) continue;
      if (!polled) return true;
      between = true;
    }
  }
  return false;
}

/// Visits earlier touches of the same objects, latest first. `all` becomes the step's clock.
void ExecutionTrace::scan(const Step& step, i64 last, Clock* all, List<Reversal>& reversals) {
  const Clock nothing[kMostStrands] = {};
  const Clock* own = last >= 0 ? clock(static_cast<u32>(last)) : nothing;
  Clock found[kMostStrands];  // `own` joined with the clocks of the reversals found
  for (u32 i = 0; i < width_; ++i) found[i] = all[i] = own[i];
  i64 at[kTouches];
  for (u32 t = 0; t < step.touches; ++t) at[t] = head(granule_of(step.touch[t].object));
  for (;;) {
    u32 t = 0;
    for (u32 k = 1; k < step.touches; ++k) {
      if (at[k] > at[t]) t = k;
    }
    if (step.touches == 0 || at[t] < 0) return;
    u32 i = static_cast<u32>(at[t] / kTouches);
    const Entry& e = entries_[i];
    const Touch& other = e.step.touch[at[t] % kTouches];
    at[t] = e.link[at[t] % kTouches];
    if (!conflict(other, step.touch[t])) continue;
    if (covers(own, i)) {
      // A covering write: everything earlier at this object happens before it.
      if (other.mode == Mode::kWrite && other.object <= step.touch[t].object &&
          other.object + other.size >= step.touch[t].object + step.touch[t].size) {
        at[t] = -1;
      }
      continue;
    }
    if (!covers(found, i) && could_precede(step, i)) {
      Reversal& reversal = reversals.push();
      reversal = {i, size(), last, step};
      predict(reversal.step, e.step);
      join(found, clock(i));
    }
    join(all, clock(i));
  }
}

void ExecutionTrace::add(const Step& step, List<Reversal>& reversals) {
  u32 widest = step.strand > step.other ? step.strand : step.other;
  if (DURESS_UNLIKELY(widest >= width_)) widen(widest);
  make_room();
  u32 i = entries_.size();
  clocks_.resize((i + 1) * width_);
  Clock* all = &clocks_[i * width_];
  i64 last = last_[step.strand];
  if (step.is(Step::kAfter)) {
    for (u32 k = 0; k < width_; ++k)
      all[k] = last >= 0 ? clocks_[static_cast<u32>(last) * width_ + k] : Clock{0};
    if (i64 other = last_[step.other]; other >= 0) join(all, clock(static_cast<u32>(other)));
  } else {
    scan(step, last, all, reversals);
  }
  Entry& e = entries_.push();
  e.step = step;
  e.last = last;
  e.index = ++all[step.strand];
  for (u32 t = 0; t < step.touches; ++t) {
    i64& touched = head(granule_of(step.touch[t].object));
    e.link[t] = touched;
    touched = i64{i} * kTouches + t;
  }
  last_[step.strand] = i;
  if (!step.is(Step::kAfter)) positions_.push(i);
  e.depth = positions_.size();
}

u64 ExecutionTrace::alternatives(const Step& step) {
  if (!(step.choices & (step.choices - 1))) return step.choices;
  const Touch& mine = step.touch[0];
  touched_.clear();
  for (i64 at = head(granule_of(mine.object)); at >= 0;) {
    u32 i = static_cast<u32>(at / kTouches);
    if (overlap(entries_[i].step.touch[at % kTouches], mine)) touched_.push(i);
    at = entries_[i].link[at % kTouches];
  }
  // Stores in modification order, the newest first; and the last step of another kind that it conflicts with.
  stores_.clear();
  u32 fixed = 0;
  for (u32 k = touched_.size(); k-- > 0;) {
    const Step& other = entries_[touched_[k]].step;
    if (other.kind == OpKind::kFutexWait) continue;  // reads the newest store, before or after an older one
    const Touch& touch = other.touch[0];
    if (!other.is(Step::kHasStoreAge) || touch.object != mine.object || touch.size != mine.size) {
      fixed = touched_[k] + 1;
    } else if (touch.mode == Mode::kWrite) {
      u32 age = other.value < stores_.size() ? other.value : stores_.size();
      stores_.push();
      for (u32 s = stores_.size() - 1; s > age; --s) stores_[s] = stores_[s - 1];
      stores_[age] = touched_[k];
    }
  }
  i64 last = last_[step.strand];
  u64 left = 0;
  for (u64 rest = step.choices; rest; rest &= rest - 1) {
    u32 age = static_cast<u32>(__builtin_ctzll(rest));
    u32 after = age < stores_.size() ? stores_[age] : 0;  // comes after this one in any case
    bool fits = true;
    for (u32 s = 0; s < age && s < stores_.size() && fits; ++s)
      fits = stores_[s] < after || stores_[s] < fixed ||
             (last >= 0 && before(stores_[s], static_cast<u32>(last)));
    if (fits) left |= u64{1} << age;
  }
  return left;
}

void ExecutionTrace::pending(const Step& step, List<Reversal>& reversals) {
  if (DURESS_UNLIKELY(step.strand >= width_)) widen(step.strand);
  make_room();
  Clock all[kMostStrands];
  scan(step, last_[step.strand], all, reversals);
}

}  // namespace duress::exhaustive
