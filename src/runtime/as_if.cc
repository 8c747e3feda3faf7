// SPDX-License-Identifier: Apache-2.0
#include "runtime/as_if.h"

#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/told.h"
#include "trail/as_if.h"

namespace duress {

bool g_as_if = false;

namespace {

constexpr u32 kKnown = 1024;
constexpr int kNear = 64;  // sites of one function are near each other

const trail::Request* request = nullptr;
trail::Record* record = nullptr;
AsIfSite known[kKnown];
constexpr u32 kStrands = 256;
HeldBack waiting[kStrands];

/// Where the calls return to in which the running strand is, outermost first. None: too many.
struct Calls {
  static constexpr u32 kMost = 64;
  u64 pc[kMost];
  u32 count;

  void take() {
    count = 0;
    Thread* t = current_thread();
    if (!t || __duress_self.frames < t->frames_begin || __duress_self.frames > t->frames_begin + kMost)
      return;
    for (DuressFrame* f = t->frames_begin; f < __duress_self.frames; ++f) pc[count++] = f->return_address;
  }
};
Calls last_store[kStrands];

bool same_function(const DuressSite& a, const DuressSite& b) {
  return a.function_index == b.function_index && a.function == b.function &&
         (a.flags & DURESS_SITE_FAITHFUL) == (b.flags & DURESS_SITE_FAITHFUL);
}

/// A site of the same function near this one. Whatever has a key is a site.
template <typename Test>
bool near(const DuressSite* site, Test test) {
  for (int i = -kNear; i <= kNear; ++i) {
    const DuressSite* other = site + i;
    u32 key = g_runtime->points.key(other);
    if (key && same_function(*site, *other) && test(*other, key)) return true;
  }
  return false;
}

AsIfSite look_up(const DuressSite* site) {
  AsIfSite result = {site, nullptr, false, false, false, false};
  u32 key = g_runtime->points.key(site);
  if (!key) return result;
  for (u32 i = 0; i < request->sites; ++i) result.atomic |= request->site_keys()[i] == key;
  for (u32 i = 0; i < request->predictions; ++i) {
    const trail::Prediction& asked = request->predicted()[i];
    if (asked.strand == raw(trail::AsIf::kLocked) && asked.site == key) {
      result.lock = reinterpret_cast<pthread_mutex_t*>(asked.value[0]);
    }
    result.publishes |= asked.strand == raw(trail::AsIf::kPublishedAfter) && asked.site == key;
    result.joins |= asked.strand == raw(trail::AsIf::kJoined) && asked.site == key;
  }
  result.updates = site->access == kDuressRead && near(site, [&](const DuressSite& other, u32) {
                     return other.access == kDuressWrite && other.line == site->line &&
                            other.column == site->column && other.variable == site->variable;
                   });
  return result;
}

}  // namespace

void as_if_begin(const trail::Request& asked, trail::Record& told) {
  request = &asked;
  record = &told;
  g_as_if = trail::asks_as_if(asked);
  if (!g_as_if) return;  // nobody looks
  for (AsIfSite& entry : known) entry.site = nullptr;
}

const AsIfSite& as_if(const DuressSite* site) {
  AsIfSite& entry = known[reinterpret_cast<uptr>(site) / sizeof(DuressSite) % kKnown];
  if (entry.site != site) entry = look_up(site);
  return entry;
}

namespace {

sched::Strand* strand_of(u64 path) {
  for (sched::Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->path == path) return s;
  }
  return nullptr;
}

bool joins(const trail::Prediction& asked, const sched::Strand* joiner) {
  return asked.strand == raw(trail::AsIf::kJoined) && asked.value[1] == joiner->path;
}

}  // namespace

void as_if_join(const DuressSite* site) {
  if (!as_if(site).joins) return;
  sched::Strand* self = controlled();
  u32 key = g_runtime->points.key(site);
  for (u32 i = 0; i < request->predictions; ++i) {
    const trail::Prediction& asked = request->predicted()[i];
    if (!joins(asked, self) || asked.site != key) continue;
    sched::Strand* other = strand_of(asked.value[0]);
    if (!other || other == self) continue;
    Operation operation = {OpKind::kJoin, 0, address_of(other), 0, t_hook_caller};
    if (other->state == sched::Strand::State::kEnded) scheduler().point(operation);
    while (other->state != sched::Strand::State::kEnded) scheduler().block(operation, operation.object);
    other->joined = true;
    sync_acquire_end(other->path);
  }
}

void as_if_joined(const sched::Strand* joined, uptr caller) {
  const sched::Strand* self = controlled();
  if (!self || !joined) return;
  bool wanted = false;
  for (u32 i = 0; i < request->predictions; ++i) {
    const trail::Prediction& asked = request->predicted()[i];
    wanted |= joins(asked, self) && asked.value[0] == joined->path;
  }
  if (wanted) tell(trail::Told::kJoined, joined->path, self->path, caller);
}

void as_if_ended() {
  if (const sched::Strand* self = controlled()) sync_release_end(self->path);
}

MemoryOrder as_if_order(MemoryOrder side) {
  auto order = static_cast<MemoryOrder>(request->depth);
  return order == MemoryOrder::kAcqRel ? side : order;
}

void as_if_orders(uptr caller, trail::AtomicKind kind, MemoryOrder* success, MemoryOrder* failure) {
  if (!controlled()) return;
  u64 calls[trail::kOrderedCalls] = {caller};
  Thread* t = current_thread();
  if (t) {
    const DuressFrame* frame = __duress_self.frames;
    for (u32 i = 1; i < trail::kOrderedCalls && frame > t->frames_begin; ++i) {
      calls[i] = (--frame)->return_address;
    }
  }
  for (u32 i = 0; i < request->predictions; ++i) {
    const trail::Prediction& asked = request->predicted()[i];
    if (asked.strand != raw(trail::AsIf::kOrdered) || asked.site != raw(kind)) continue;
    for (u64 call : calls) {
      if (call != asked.value[0]) continue;
      *success = static_cast<MemoryOrder>(asked.count);
      *failure = static_cast<MemoryOrder>(asked.size);
      return;
    }
  }
  if (!request->profile) return;
  constexpr u64 kEntries = trail::kOrderedCalls / 2;
  trail::Prediction* list = record->profile();
  for (u64 i = 0; i < record->profiled; i += kEntries) {
    bool same = true;
    for (u64 k = 0; k < trail::kOrderedCalls; ++k) same &= list[i + k / 2].value[k % 2] == calls[k];
    if (same) return;
  }
  if (record->profiled + kEntries > trail::kMostProfiled) return;
  for (u64 k = 0; k < kEntries; ++k) {
    list[record->profiled + k] = {
        0, raw(kind), raw(*success), raw(*failure), {calls[2 * k], calls[2 * k + 1]}};
  }
  record->profiled += kEntries;
  Uncontrolled here;
  g_runtime->modules.log_new();
}

HeldBack& held_back() {
  return waiting[scheduler().running()->number % kStrands];
}

bool as_if_waits(uptr caller) {
  Calls& calls = last_store[scheduler().running()->number % kStrands];
  calls.take();
  if (calls.count == Calls::kMost) calls.count = 0;
  calls.pc[calls.count++] = caller;
  for (u32 i = 0; i < request->predictions; ++i) {
    const trail::Prediction& asked = request->predicted()[i];
    if (asked.strand != raw(trail::AsIf::kPublishedAfter) || !asked.value[0]) continue;
    for (u32 k = 0; k < calls.count; ++k) {
      if (calls.pc[k] != asked.value[0]) continue;
      trail::published_at(*record) = asked.value[0];
      return true;
    }
  }
  return false;
}

void as_if_set() {
  const Calls& store = last_store[scheduler().running()->number % kStrands];
  Calls here;
  here.take();
  if (here.count >= store.count) return;
  for (u32 i = 0; i < here.count; ++i) {
    if (here.pc[i] != store.pc[i]) return;
  }
  if (!trail::published_at(*record)) trail::published_at(*record) = store.pc[here.count];
}

}  // namespace duress
