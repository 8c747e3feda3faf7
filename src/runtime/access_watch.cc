// SPDX-License-Identifier: Apache-2.0
#include "runtime/access_watch.h"

#include <malloc.h>

#include "runtime/control.h"
#include "runtime/interceptors/pool.h"
#include "runtime/plain_reads.h"
#include "runtime/rollback_state.h"
#include "runtime/runtime.h"

namespace duress {

AccessWatch g_access_watch = AccessWatch::kNone;

namespace {

using sched::Strand;
using What = AccessDigest::What;

// These are put back with the rest of memory: an execution that begins at a checkpoint has what it had there.
constinit u64 digests[AccessDigest::kMostStrands] = {};
constinit u32 unjoined = 1;
constinit bool spoiled = false;

bool learns() {
  return g_access_watch == AccessWatch::kLearn;
}

KnownAccesses& known() {
  return g_rollback->accesses;
}

/// Whether the accesses of this strand are ordered before or after all others, because there is no other.
/// Null also for a process that cannot be rolled back any more: its execution will be performed again.
Strand* watched() {
  if (unjoined == 1 || !g_rollback) return nullptr;
  Strand* s = controlled();
  if (s && learns() && !known().prefilter.knows(s->number)) spoiled = true;
  return s;
}

void on_access(const void* p, u64 size, bool write, const DuressSite*) {
  const Strand* s = watched();
  if (!s) return;
  RacePrefilter& prefilter = known().prefilter;
  if (learns()) prefilter.access(address_of(p), size, write, s->number);
  if (prefilter.owned(address_of(p), size, s->number)) return;
  AccessDigest::add(digests, s->number, address_of(p), size, write ? What::kWrite : What::kRead);
}

void on_atomic(const void* p, u64 size, bool write) {
  const Strand* s = watched();
  if (!s) return;
  RacePrefilter& prefilter = known().prefilter;
  if (learns()) prefilter.atomic(address_of(p), size, write, s->number);
  if (prefilter.only_atomics(address_of(p), size)) return;
  AccessDigest::add(digests, s->number, address_of(p), size, write ? What::kAtomicWrite : What::kAtomicRead);
}

void on_freed(void* p) {
  on_access(p, malloc_usable_size(p), true, nullptr);
}

void on_created(Strand* creator, Strand* child) {
  ++unjoined;
  if (!creator || !g_rollback) return;
  if (learns()) known().prefilter.created(creator->number, child->number);
  AccessDigest::add(digests, creator->number, child->number, 0, What::kCreated);
}

void on_joined(Strand* by, Strand* child) {
  --unjoined;
  if (!by || !g_rollback) return;
  if (learns()) known().prefilter.joined(by->number, child->number);
  AccessDigest::add(digests, by->number, child->number, 0, What::kJoined);
}

constexpr StrandObserver kObserver = {on_created, [](Strand*) {}, [](Strand*) {}, on_joined};

AccessWatch watch_for(const trail::Request& request) {
  if (request.reads_from) return AccessWatch::kPlainReads;
  const RollbackState* s = g_rollback;
  if (!s || !s->active || !(request.skip_known || request.learn_accesses)) return AccessWatch::kNone;
  if (!request.systematic || request.detect != trail::Detect::kRaces || request.model != ModelId::kSc ||
      request.asks_what_if() || request.backend != trail::Backend::kFiber || !g_runtime->direct)
    return AccessWatch::kNone;
  // An execution that cannot be undone would have to be performed twice: the first one of a process shows it.
  return request.learn_accesses || !s->undone ? AccessWatch::kLearn : AccessWatch::kDigest;
}

}  // namespace

void KnownAccesses::begin() {
  digests.use(known);
  prefilter.use(owners, shadows);
  prefilter.begin();
}

void access_watch_begin(const trail::Request& request, trail::Record& record) {
  g_access_watch = watch_for(request);
  if (g_access_watch == AccessWatch::kNone) return;
  if (g_access_watch == AccessWatch::kPlainReads) return watch_plain_reads();
  known().begin();
  record.races_unchecked = g_access_watch == AccessWatch::kDigest;
  g_learn_access = on_access;
  g_learn_atomic = on_atomic;
  g_learn_freed = on_freed;
  g_strand_observer = &kObserver;
}

void access_watch_spoil() {
  if (g_access_watch == AccessWatch::kPlainReads) return plain_read_missed();
  spoiled = true;
}

void access_watch_end(trail::Record& record) {
  if (g_access_watch == AccessWatch::kNone || g_access_watch == AccessWatch::kPlainReads || spoiled ||
      record.uncontrolled)
    return;
  AccessDigest& all = known().digests;
  u64 number = AccessDigest::number_of(digests);
  if (g_access_watch == AccessWatch::kDigest) {
    record.races_unchecked = !all.known(number);
  } else if (!known().prefilter.race_possible() && !known().prefilter.must_rerun()) {
    all.remember(number);
  }
}

}  // namespace duress
