// SPDX-License-Identifier: Apache-2.0
#include "runtime/what_if.h"

#include <string.h>

#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/side_events.h"

namespace duress {

bool g_what_if = false;

namespace {

using Kind = trail::WhatIfEdit::Kind;

constexpr u32 kKnown = 1024;
constexpr int kNear = 64;  // sites of one function are near each other

const trail::Request* request = nullptr;
trail::Record* record = nullptr;
WhatIfSite known[kKnown];
constexpr u32 kStrands = 256;
HeldBackStore held_back[kStrands];

/// The return addresses of the calls in which the running strand is, outermost first. None: too many.
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

/// Whether `test` holds for a site of the same function near this one. Whatever has a key is a site.
template <typename Test>
bool near(const DuressSite* site, Test test) {
  for (int i = -kNear; i <= kNear; ++i) {
    const DuressSite* other = site + i;
    u32 key = g_runtime->points.key(other);
    if (key && same_function(*site, *other) && test(*other)) return true;
  }
  return false;
}

WhatIfSite look_up(const DuressSite* site) {
  WhatIfSite result = {site, nullptr, false, MemoryOrder::kSeqCst, false, false, false};
  u32 key = g_runtime->points.key(site);
  if (!key) return result;
  for (const trail::WhatIfEdit& edit : request->edits()) {
    if (edit.site != key) continue;
    switch (edit.kind) {
      case Kind::kAtomic:
        result.atomic = true;
        result.order = edit.order;
        break;
      case Kind::kLocked:
        result.lock = reinterpret_cast<pthread_mutex_t*>(edit.mutex);
        break;
      case Kind::kPublishedAfter:
        result.publishes = true;
        break;
      case Kind::kJoined:
        result.joins = true;
        break;
      case Kind::kReordered:  // names a call, not a site
        break;
    }
  }
  result.updates = site->access == kDuressRead && near(site, [&](const DuressSite& other) {
                     return other.access == kDuressWrite && other.line == site->line &&
                            other.column == site->column && other.variable == site->variable;
                   });
  return result;
}

sched::Strand* strand_of(u64 path) {
  for (sched::Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->path == path) return s;
  }
  return nullptr;
}

/// Adds an operation to the record's profile, each once by its calls.
void profile_atomic(const trail::AtomicProfileEntry& entry) {
  trail::AtomicProfileEntry* list = record->atomic_profile();
  for (u64 i = 0; i < record->atomic_profile_count; ++i) {
    if (memcmp(list[i].calls, entry.calls, sizeof entry.calls) == 0) return;
  }
  if (record->atomic_profile_count == trail::kMostAtomicProfile) return;
  list[record->atomic_profile_count++] = entry;
  Uncontrolled here;
  g_runtime->modules.log_new();
}

}  // namespace

void what_if_begin(const trail::Request& asked, trail::Record& written) {
  request = &asked;
  record = &written;
  g_what_if = asked.asks_what_if();
  if (!g_what_if) return;
  for (WhatIfSite& entry : known) entry.site = nullptr;
}

const WhatIfSite& what_if(const DuressSite* site) {
  WhatIfSite& entry = known[reinterpret_cast<uptr>(site) / sizeof(DuressSite) % kKnown];
  if (entry.site != site) entry = look_up(site);
  return entry;
}

void what_if_join(const DuressSite* site) {
  if (!what_if(site).joins) return;
  sched::Strand* self = controlled();
  u32 key = g_runtime->points.key(site);
  for (const trail::WhatIfEdit& edit : request->edits()) {
    if (edit.kind != Kind::kJoined || edit.joiner != self->path || edit.site != key) continue;
    sched::Strand* other = strand_of(edit.joined);
    if (!other || other == self) continue;
    Operation operation = {OpKind::kJoin, 0, address_of(other), 0, t_hook_caller};
    if (other->state == sched::Strand::State::kEnded) scheduler().point(operation);
    while (other->state != sched::Strand::State::kEnded) scheduler().block(operation, operation.object);
    other->joined = true;
    sync_acquire_end(other->path);
  }
}

void what_if_joined(const sched::Strand* joined, uptr caller) {
  const sched::Strand* self = controlled();
  if (!self || !joined) return;
  for (const trail::WhatIfEdit& edit : request->edits()) {
    if (edit.kind != Kind::kJoined || edit.joiner != self->path || edit.joined != joined->path) continue;
    record_side_event({.kind = trail::SideEvent::Kind::kJoined, .joined = joined->path, .joiner = self->path},
                      caller);
    return;
  }
}

void what_if_ended() {
  if (const sched::Strand* self = controlled()) sync_release_end(self->path);
}

void what_if_orders(uptr caller, trail::AtomicKind kind, MemoryOrder* success, MemoryOrder* failure) {
  if (!controlled()) return;
  trail::AtomicProfileEntry operation = {kind, *success, *failure, 0, {caller}};
  if (Thread* t = current_thread()) {
    const DuressFrame* frame = __duress_self.frames;
    for (u32 i = 1; i < trail::AtomicProfileEntry::kMostCalls && frame > t->frames_begin; ++i) {
      operation.calls[i] = (--frame)->return_address;
    }
  }
  for (const trail::WhatIfEdit& edit : request->edits()) {
    if (edit.kind != Kind::kReordered || edit.operation != kind) continue;
    for (u64 call : operation.calls) {
      if (call != edit.call) continue;
      *success = edit.order;
      *failure = edit.failure_order;
      return;
    }
  }
  if (request->profile_atomics) profile_atomic(operation);
}

HeldBackStore& held_back_store() {
  return held_back[scheduler().running()->number % kStrands];
}

bool what_if_holds_back(uptr caller) {
  Calls& calls = last_store[scheduler().running()->number % kStrands];
  calls.take();
  if (calls.count == Calls::kMost) calls.count = 0;
  calls.pc[calls.count++] = caller;
  for (const trail::WhatIfEdit& edit : request->edits()) {
    if (edit.kind != Kind::kPublishedAfter || !edit.call) continue;
    for (u32 k = 0; k < calls.count; ++k) {
      if (calls.pc[k] != edit.call) continue;
      record->publishing_store = edit.call;
      return true;
    }
  }
  return false;
}

void what_if_published_early() {
  const Calls& store = last_store[scheduler().running()->number % kStrands];
  Calls here;
  here.take();
  if (here.count >= store.count) return;
  for (u32 i = 0; i < here.count; ++i) {
    if (here.pc[i] != store.pc[i]) return;
  }
  if (!record->publishing_store) record->publishing_store = store.pc[here.count];
}

}  // namespace duress
