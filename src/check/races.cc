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
u64 number = 0;              // of the execution that is looked at more closely
u64 closely = 0, known = 0;  // executions
constinit Arena arena;
VectorClock* past = nullptr;  // all that earlier executions did
FoundRace found;
bool any_found = false;
u64 check_number = 0;
uptr caller_frame = 0;  // of whoever called duress::check
void (*learn_besides)(const void*, u64, bool, const DuressSite*) = nullptr;

// ---- suspects

u32 own_number() {
  return controlled()->number;
}

void suspect_atomic(const void* p, u64 size, bool write) {
  prefilter.atomic(address_of(p), size, write, own_number());
}

void suspect_freed(void* p) {
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

/// Hooks are called only while they have something to say.
void set_hooks() {
  bool asked = !prefilter.single_strand() && !prefilter.race_possible();
  bool to_suspects = asked && g_race_watch == RaceWatch::kSuspects;
  bool to_digest = asked && g_race_watch == RaceWatch::kDigest;
  g_learn_access = learn_besides ? learn_besides
                   : to_suspects ? suspect_access
                   : to_digest   ? digest_access
                                 : nullptr;
  g_access_owners = !learn_besides && to_suspects ? prefilter.owners() : nullptr;
  g_access_digest = !learn_besides && to_digest ? digest.of_strand() : nullptr;
  g_learn_atomic = to_suspects ? suspect_atomic : to_digest ? digest_atomic : nullptr;
  g_learn_freed = to_suspects ? suspect_freed : to_digest ? digest_freed : nullptr;
}

// ---- clocks

/// A counter that comes near its end is left for another one.
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

/// The list of threads that take part, which a memory model asks.
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

/// Stacks that another check has used: what synchronised there may lie across what does now.
void forget_stacks(Thread& t, bool root) {
  constexpr uptr kNear = 128 << 10;
  FastTrack& fasttrack = g_runtime->fasttrack;
  fasttrack.forget(t.fasttrack, t.stack_begin, t.stack_end);
  if (root) fasttrack.forget(t.fasttrack, caller_frame - kNear, caller_frame + kNear);
}

void note_race(const Race& race) {
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
  t->clock.next_epoch();  // what it does now, nobody knows who knew all that it did before
  FastTrack::after_sync(t->fasttrack);
  t->in_runtime = false;
}

void strand_ends(Strand* strand) {
  if (g_race_watch != RaceWatch::kClocks) return;
  if (!t_current) return;  // it gave up when it had ended already
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

// ---- check.cc

void watch_races(RaceWatch watch, void (*learn)(const void*, u64, bool, const DuressSite*)) {
  learn_besides = learn;
  any_found = false;
  set_watch(watch);
  ++check_number;
  caller_frame = reinterpret_cast<uptr>(__builtin_frame_address(0));
  if (watch == RaceWatch::kSuspects || watch == RaceWatch::kDigest) {
    if (!prefilter.prepare() || !digest.prepare()) fatal("out of memory for duress::check");
    prefilter.forget();
    prefilter.begin();
    digest.forget();
    closely = known = 0;
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
  g_plain_matters = true;
  rt.checking = true;
  rt.heap.follow_all();
  rt.reporter.listen(note_race);
  set_hooks();
  return true;
}

void race_execution_begins() {
  any_found = false;
  if (g_race_watch == RaceWatch::kSuspects || g_race_watch == RaceWatch::kDigest) prefilter.begin();
  if (g_race_watch == RaceWatch::kDigest) digest.begin();
  if (g_race_watch == RaceWatch::kClocks && current_thread()) {  // detected outside of checks too
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

bool races_known() {
  if (g_race_watch != RaceWatch::kDigest) return false;
  number = digest.number();
  bool is = !prefilter.race_possible() && digest.known(number);
  known += is;
  return is;
}

void races_look_closer() {
  g_race_watch = RaceWatch::kSuspects;
  ++closely;
}

void races_are_none() {
  // Where most executions are new ones, running them twice does not pay.
  bool pays = closely < 64 || closely < known;
  if (pays && digest.remember(number)) g_race_watch = RaceWatch::kDigest;
}

bool races_unseen() {
  return g_race_watch == RaceWatch::kSuspects && prefilter.must_rerun() && !prefilter.race_possible();
}

bool races_suspected() {
  return g_race_watch == RaceWatch::kSuspects && prefilter.race_possible();
}

void suspect_access(const void* p, u64 size, bool write, const DuressSite*) {
  prefilter.access(address_of(p), size, write, own_number());
}

const FoundRace* race_found() {
  return any_found ? &found : nullptr;
}

}  // namespace duress
