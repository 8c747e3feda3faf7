// SPDX-License-Identifier: Apache-2.0
#include "check/race_clocks.h"

#include "base/check.h"
#include "runtime/access_observer.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

using sched::Strand;

/// A strand of the pool as the detector knows it: Strand::watched.
struct Watched {
  Thread* thread;
  DuressSelf self;  // while it runs no job: its storage is made anew for the next one
  bool entered;
  u64 check;  // the last one it took part in
};

constinit Arena arena;
VectorClock* past = nullptr;  // joins those of all earlier executions
FoundRace found;
bool any_found = false;
bool marks_sites = false, in_library = false;
u64 check_number = 0;
uptr caller_frame = 0;  // of the caller of duress::check

/// A strand whose epoch comes near the end of its range gets another slot.
constexpr Clock kOldClock = 1u << 31;

Watched& watched(Strand* s, const Thread* creator) {
  auto* w = static_cast<Watched*>(s->watched);
  if (w && w->thread->clock.own() < kOldClock) return *w;
  if (!w) s->watched = w = arena.make<Watched>();
  *w = {};
  w->thread = g_runtime->make_thread(creator ? creator->tid : Tid{0}, StackId{0},
                                     creator ? creator->clock.clock() : *past);
  return *w;
}

/// The list of threads that take part, for the memory model.
void enlist(Thread* t) {
  t->next = g_runtime->live;
  g_runtime->live = t;
}
void delist(Thread* t) {
  for (Thread** link = &g_runtime->live; *link; link = &(*link)->next) {
    if (*link != t) continue;
    *link = t->next;
    return;
  }
}

/// Stacks that another check has used: an atomic of another size may have been there.
void forget_stacks(Thread& t, bool root) {
  constexpr uptr kNear = 128 << 10;
  FastTrack& fasttrack = g_runtime->fasttrack;
  fasttrack.forget(t.fasttrack, t.stack_begin, t.stack_end);
  if (root) fasttrack.forget(t.fasttrack, caller_frame - kNear, caller_frame + kNear);
}

/// Atomic accesses are steps anyway.
void mark_side(const RaceSide& side) {
  if (side.kind == AccessKind::kFree) {
    g_runtime->points.mark_frees();
  } else if (side.kind == AccessKind::kRead || side.kind == AccessKind::kWrite) {
    const DuressSite* site = g_runtime->modules.site(side.place.site);
    if (!site || !g_runtime->points.mark(site)) in_library = true;
  }
}

void note_race(const Race& race) {
  if (marks_sites) {
    mark_side(race.earlier);
    mark_side(race.later);
  }
  if (any_found) return;
  any_found = true;
  found.race = race;
  found.strands[0] = found.strands[1] = controlled()->number;
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    auto* w = static_cast<Watched*>(s->watched);
    if (w && w->thread->clock.slot() == race.earlier.slot) found.strands[0] = s->number;
  }
  found.sites[0] = g_runtime->modules.site(race.earlier.place.site);
  found.sites[1] = g_runtime->modules.site(race.later.place.site);
  found.block = g_runtime->heap.find_containing(race.address);
}

}  // namespace

void clocks_check_begins(uptr frame) {
  any_found = false;
  ++check_number;
  caller_frame = frame;
}

bool clocks_enable() {
  Runtime& rt = *g_runtime;
  if (!rt.direct || (!rt.shadow.is_open() && !rt.shadow.open(DURESS_SHADOW_TABLE))) return false;
  if (!past) past = new (arena.allocate(sizeof(VectorClock))) VectorClock(arena);
  g_observe_plain = true;
  rt.checking = true;
  rt.heap.follow_all();
  rt.reporter.listen(note_race);
  return true;
}

void clocks_execution_begins() {
  any_found = false;
  if (g_race_watch != RaceWatch::kClocks || !current_thread())
    return;  // races are detected outside of checks too
  past->join(current_thread()->clock.clock());
  current_thread()->clock.next_epoch();
  FastTrack::after_sync(current_thread()->fasttrack);
}

void clocks_execution_ends() {
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->watched) past->join(static_cast<Watched*>(s->watched)->thread->clock.clock());
  }
  if (!current_thread()) return;
  current_thread()->clock.acquire(*past);
  FastTrack::after_sync(current_thread()->fasttrack);
}

void clocks_created(Strand* creator, Strand* child) {
  Thread* t = creator ? current_thread() : nullptr;
  Watched& w = watched(child, t);
  if (!t) return;
  InRuntime in(t);
  t->clock.release_to(w.thread->start);
  FastTrack::after_sync(t->fasttrack);
}

void clocks_starts(Strand* strand) {
  Runtime& rt = *g_runtime;
  auto& w = *static_cast<Watched*>(strand->watched);
  Thread* t = w.thread;
  t->in_runtime = true;
  if (!w.entered) {
    w.entered = true;
    find_stack(*t);
    rt.enter_thread(t);
  } else {
    enlist(t);
    __duress_self = w.self;
    __duress_self.frames = t->frames_begin;
    t_current = t;
  }
  bool root = t->start.empty();
  if (w.check != check_number) forget_stacks(*t, root);
  w.check = check_number;
  t->fasttrack.locks = LockSetId{};
  t->fasttrack.ignore = 0;
  if (root) {
    t->clock.acquire(*past);
  } else {
    t->clock.acquire(t->start);
    t->start.clear(rt.arena);
  }
  t->clock.next_epoch();  // clocks that cover its last job must not cover this one
  FastTrack::after_sync(t->fasttrack);
  t->in_runtime = false;
}

void clocks_ends(Strand* strand) {
  if (!t_current) return;  // it was called back after its end
  static_cast<Watched*>(strand->watched)->self = __duress_self;
  delist(t_current);
  t_current = nullptr;
}

void clocks_joined(Strand* child) {
  Thread* t = current_thread();
  InRuntime in(t);
  if (!in.entered()) return;
  t->clock.acquire(static_cast<Watched*>(child->watched)->thread->clock.clock());
  FastTrack::after_sync(t->fasttrack);
}

Strand* clocks_strand_of(Tid thread) {
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    const auto* w = static_cast<const Watched*>(s->watched);
    if (w && w->thread->tid == thread) return s;
  }
  return nullptr;
}

void mark_racing_sites(bool on) {
  marks_sites = on;
  in_library = false;
}

bool raced_in_library() {
  return in_library;
}

const FoundRace* race_found() {
  return any_found ? &found : nullptr;
}

}  // namespace duress
