// SPDX-License-Identifier: Apache-2.0
#include "check/races.h"

#include <malloc.h>
#include <string.h>

#include "base/check.h"
#include "runtime/access_observer.h"
#include "runtime/interceptors/pool.h"
#include "runtime/runtime.h"

namespace duress {

RaceWatch g_race_watch = RaceWatch::kNone;

namespace {

using sched::Strand;

/// A strand of the pool as the detector knows it: Strand::watched.
struct Watched {
  Thread* thread;
  DuressSelf self;  // while it runs no job: its storage is made anew for the next one
  bool entered;
  u64 check;  // the last one it took part in
};

constinit RacePrefilter prefilter;
constinit AccessDigest digest;
u64 last_digest = 0;                // of the execution that may be run again with the prefilter
u64 prefiltered = 0, repeated = 0;  // executions: that were, and whose digest was known
constinit Arena arena;
VectorClock* past = nullptr;  // joins those of all earlier executions
FoundRace found;
bool any_found = false;
bool marks_sites = false, in_library = false;
u64 check_number = 0;
uptr caller_frame = 0;  // of the caller of duress::check
void (*other_observer)(const void*, u64, bool, const DuressSite*) = nullptr;

// ---- prefilter

u32 own_number() {
  return controlled()->number;
}

void prefilter_atomic(const void* p, u64 size, bool write) {
  prefilter.atomic(address_of(p), size, write, own_number());
}

void prefilter_freed(void* p) {
  prefilter.access(address_of(p), malloc_usable_size(p), true, own_number());
}

// ---- digest

using What = AccessDigest::What;

void digest_access(const void* p, u64 size, bool write, const DuressSite*) {
  digest.add(own_number(), address_of(p), size, write ? What::kWrite : What::kRead);
}

void digest_atomic(const void* p, u64 size, bool write) {
  digest.add(own_number(), address_of(p), size, write ? What::kAtomicWrite : What::kAtomicRead);
}

void digest_freed(void* p) {
  digest.add(own_number(), address_of(p), malloc_usable_size(p), What::kWrite);
}

/// Observers are set only while they are needed.
void set_hooks() {
  bool needed = !prefilter.single_strand() && !prefilter.race_possible();
  bool to_prefilter = needed && g_race_watch == RaceWatch::kPrefilter;
  bool to_digest = needed && g_race_watch == RaceWatch::kDigest;
  g_learn_access = other_observer ? other_observer
                   : to_prefilter ? prefilter_access
                   : to_digest    ? digest_access
                                  : nullptr;
  g_access_owners = !other_observer && to_prefilter ? prefilter.owners() : nullptr;
  g_access_digest = !other_observer && to_digest ? digest.of_strand() : nullptr;
  g_learn_atomic = to_prefilter ? prefilter_atomic : to_digest ? digest_atomic : nullptr;
  g_learn_freed = to_prefilter ? prefilter_freed : to_digest ? digest_freed : nullptr;
}

// ---- clocks

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
  found.strands[0] = found.strands[1] = own_number();
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    auto* w = static_cast<Watched*>(s->watched);
    if (w && w->thread->clock.slot() == race.earlier.slot) found.strands[0] = s->number;
  }
  found.sites[0] = g_runtime->modules.site(race.earlier.place.site);
  found.sites[1] = g_runtime->modules.site(race.later.place.site);
  found.block = g_runtime->heap.find_containing(race.address);
}

// ---- strands of the pool

void strand_created(Strand* creator, Strand* child) {
  if (g_race_watch != RaceWatch::kClocks) {
    if (creator) {
      prefilter.created(creator->number, child->number);
      digest.add(creator->number, child->number, 0, What::kCreated);
    }
    set_hooks();
    return;
  }
  Thread* t = creator ? current_thread() : nullptr;
  Watched& w = watched(child, t);
  if (!t) return;
  InRuntime in(t);
  t->clock.release_to(w.thread->start);
  FastTrack::after_sync(t->fasttrack);
}

void strand_starts(Strand* strand) {
  if (g_race_watch != RaceWatch::kClocks) return;
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

void strand_ends(Strand* strand) {
  if (g_race_watch != RaceWatch::kClocks) return;
  if (!t_current) return;  // it was called back after its end
  static_cast<Watched*>(strand->watched)->self = __duress_self;
  delist(t_current);
  t_current = nullptr;
}

void strand_joined(Strand* by, Strand* child) {
  if (g_race_watch != RaceWatch::kClocks) {
    prefilter.joined(by->number, child->number);
    digest.add(by->number, child->number, 0, What::kJoined);
    set_hooks();
    return;
  }
  Thread* t = current_thread();
  InRuntime in(t);
  if (!in.entered()) return;
  t->clock.acquire(static_cast<Watched*>(child->watched)->thread->clock.clock());
  FastTrack::after_sync(t->fasttrack);
}

constexpr StrandObserver kStrandObserver = {strand_created, strand_starts, strand_ends, strand_joined};

void set_watch(RaceWatch watch) {
  g_race_watch = watch;
  g_strand_observer = watch == RaceWatch::kNone ? nullptr : &kStrandObserver;
}

}  // namespace

void watch_races(RaceWatch watch, void (*learn)(const void*, u64, bool, const DuressSite*)) {
  other_observer = learn;
  any_found = false;
  set_watch(watch);
  ++check_number;
  caller_frame = reinterpret_cast<uptr>(__builtin_frame_address(0));
  if (watch == RaceWatch::kPrefilter || watch == RaceWatch::kDigest) {
    if (!prefilter.prepare() || !digest.prepare()) fatal("out of memory for duress::check");
    prefilter.forget();
    prefilter.begin();
    digest.forget();
    prefiltered = repeated = 0;
  }
  if (watch == RaceWatch::kClocks && !watch_with_clocks()) set_watch(RaceWatch::kNone);
  if (g_race_watch != RaceWatch::kClocks) g_runtime->reporter.listen(nullptr);
  set_hooks();
}

bool watch_with_clocks() {
  Runtime& rt = *g_runtime;
  if (!rt.direct || (!rt.shadow.is_open() && !rt.shadow.open(DURESS_SHADOW_TABLE))) return false;
  if (!past) past = new (arena.allocate(sizeof(VectorClock))) VectorClock(arena);
  set_watch(RaceWatch::kClocks);
  g_observe_plain = true;
  rt.checking = true;
  rt.heap.follow_all();
  rt.reporter.listen(note_race);
  set_hooks();
  return true;
}

void race_execution_begins() {
  any_found = false;
  if (g_race_watch == RaceWatch::kPrefilter || g_race_watch == RaceWatch::kDigest) prefilter.begin();
  if (g_race_watch == RaceWatch::kDigest) digest.begin();
  if (g_race_watch == RaceWatch::kClocks && current_thread()) {  // races are detected outside of checks too
    past->join(current_thread()->clock.clock());
    current_thread()->clock.next_epoch();
    FastTrack::after_sync(current_thread()->fasttrack);
  }
  set_hooks();
}

void race_execution_ends() {
  if (g_race_watch != RaceWatch::kClocks) return;
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->watched) past->join(static_cast<Watched*>(s->watched)->thread->clock.clock());
  }
  if (!current_thread()) return;
  current_thread()->clock.acquire(*past);
  FastTrack::after_sync(current_thread()->fasttrack);
}

bool same_accesses_had_no_race() {
  if (g_race_watch != RaceWatch::kDigest) return false;
  last_digest = digest.number();
  bool is = !prefilter.race_possible() && digest.known(last_digest);
  repeated += is;
  return is;
}

void rerun_with_prefilter() {
  g_race_watch = RaceWatch::kPrefilter;
  ++prefiltered;
}

void remember_no_race() {
  // Where most executions are new, running them twice does not pay.
  bool pays = prefiltered < 64 || prefiltered < repeated;
  if (pays && digest.remember(last_digest)) g_race_watch = RaceWatch::kDigest;
}

bool prefilter_must_rerun() {
  return g_race_watch == RaceWatch::kPrefilter && prefilter.must_rerun() && !prefilter.race_possible();
}

bool prefilter_race_possible() {
  return g_race_watch == RaceWatch::kPrefilter && prefilter.race_possible();
}

void prefilter_access(const void* p, u64 size, bool write, const DuressSite*) {
  prefilter.access(address_of(p), size, write, own_number());
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
