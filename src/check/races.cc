// SPDX-License-Identifier: Apache-2.0
#include "check/races.h"

#include <malloc.h>

#include "base/check.h"
#include "check/race_clocks.h"
#include "runtime/access_observer.h"
#include "runtime/interceptors/pool.h"
#include "runtime/runtime.h"

namespace duress {

RaceWatch g_race_watch = RaceWatch::kNone;

namespace {

using sched::Strand;

constinit RacePrefilter prefilter;
constinit AccessDigest digest;
u64 last_digest = 0;                // of the execution that may be run again with the prefilter
u64 prefiltered = 0, repeated = 0;  // executions: that were, and whose digest was known
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
  clocks_created(creator, child);
}

void strand_starts(Strand* strand) {
  if (g_race_watch == RaceWatch::kClocks) clocks_starts(strand);
}

void strand_ends(Strand* strand) {
  if (g_race_watch == RaceWatch::kClocks) clocks_ends(strand);
}

void strand_joined(Strand* by, Strand* child) {
  if (g_race_watch != RaceWatch::kClocks) {
    prefilter.joined(by->number, child->number);
    digest.add(by->number, child->number, 0, What::kJoined);
    set_hooks();
    return;
  }
  clocks_joined(child);
}

constexpr StrandObserver kStrandObserver = {strand_created, strand_starts, strand_ends, strand_joined};

void set_watch(RaceWatch watch) {
  g_race_watch = watch;
  g_strand_observer = watch == RaceWatch::kNone ? nullptr : &kStrandObserver;
}

}  // namespace

void watch_races(RaceWatch watch, void (*learn)(const void*, u64, bool, const DuressSite*)) {
  other_observer = learn;
  set_watch(watch);
  clocks_check_begins(reinterpret_cast<uptr>(__builtin_frame_address(0)));
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
  if (!clocks_enable()) return false;
  set_watch(RaceWatch::kClocks);
  set_hooks();
  return true;
}

void race_execution_begins() {
  if (g_race_watch == RaceWatch::kPrefilter || g_race_watch == RaceWatch::kDigest) prefilter.begin();
  if (g_race_watch == RaceWatch::kDigest) digest.begin();
  clocks_execution_begins();
  set_hooks();
}

void race_execution_ends() {
  if (g_race_watch == RaceWatch::kClocks) clocks_execution_ends();
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

}  // namespace duress
