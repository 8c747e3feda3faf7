// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/graph_fingerprint.h"

#include "base/prng.h"

namespace duress::exhaustive {

u32 GraphFingerprint::object(const Touch& touch) {
  for (u32 i = 0; i < objects_.size(); ++i) {
    if (objects_[i].address == touch.object && objects_[i].size == touch.size) return i;
  }
  objects_.push({touch.object, touch.size, kNobody, 0, 0});
  return objects_.size() - 1;
}

/// Ages are relative to this step; stores inserted between two others later are taken into account at the
/// end.
void GraphFingerprint::atomic(const Step& step, u32 n) {
  Object& o = objects_[object(step.touch[0])];
  u32 after = kNobody, source = o.newest;  // `after` follows `source` in modification order
  for (u32 age = step.value; age > 0 && source != kNobody; --age) {
    after = source;
    source = events_[source].before;
  }
  Event& e = events_[n];
  if (o.writer) e.about = mix(e.about ^ o.writer);  // the guard of a static: its function stored
  if (step.kind != OpKind::kAtomicWrite)
    e.about = mix(e.about ^ (source == kNobody ? 1 : events_[source].name));
  if (step.touch[0].mode != Mode::kWrite) return;
  e.wrote = true;
  e.before = source;
  (after == kNobody ? o.newest : events_[after].before) = n;
}

/// Other objects: a step comes after the last writer; a writer also after all readers since then.
void GraphFingerprint::other(const Touch& touch, u32 n) {
  if (touch.size == 0) return;
  Object& o = objects_[object(touch)];
  Event& e = events_[n];
  e.about = mix(e.about ^ o.writer);
  if (touch.mode == Mode::kRead) {
    o.readers += mix(e.name);
    return;
  }
  e.about = mix(e.about ^ o.readers);
  o.writer = e.name;
  o.readers = 0;
}

u64 GraphFingerprint::of(const Step* steps, u32 count) {
  events_.clear();
  objects_.clear();
  u32 numbers[kMostStrands] = {};
  for (u32 i = 0; i < count; ++i) {
    const Step& step = steps[i];
    if (step.is(Step::kPending) || step.is(Step::kAfter)) continue;
    u32 n = events_.size();
    u64 name = mix(u64{step.strand} << 32 | ++numbers[step.strand]);
    events_.push({name, mix(name ^ mix(raw(step.kind))), kNobody, false});
    if (step.is(Step::kHasStoreAge)) {
      atomic(step, n);
      continue;
    }
    if (step.value) events_[n].about = mix(events_[n].about ^ step.value);
    for (u32 t = 0; t < step.touches; ++t) {
      Touch touch = step.touch[t];
      if (step.kind == OpKind::kFutexWait && t == 0) {
        // It read the word of an atomic.
        u32 newest = objects_[object(touch)].newest;
        events_[n].about = mix(events_[n].about ^ (newest == kNobody ? 1 : events_[newest].name));
        continue;
      }
      other(touch, n);
    }
  }
  u64 sum = 0;
  for (const Event& e : events_) {
    u64 one = e.about;
    if (e.wrote) one = mix(one ^ mix(e.before == kNobody ? 2 : events_[e.before].name + 3));
    sum += mix(one);
  }
  return sum;
}

}  // namespace duress::exhaustive
