// SPDX-License-Identifier: Apache-2.0
//
// Races are looked for only where accesses are new. Most executions of an exploration (`duress verify`)
// differ in the order of atomic operations alone: each strand makes the same plain accesses as in an
// execution before, and creates and joins the same strands. If the prefilter (race_prefilter.h) found no pair
// of accesses in that one that creating and joining leave unordered, then there is no race in any of them,
// whatever the order of atomics and locks. So executions of a process that is rolled back are performed
// without race checks, and their accesses only digested (access_digest.h). If the digest is not known,
// Record::races_unchecked stays set and the host has the same plan performed again with checks, and with the
// prefilter (Request::learn_accesses).
//
// Which accesses: those while more than one strand is there, without those of memory that one strand alone
// has touched in all executions learned so far, and without atomic ones of memory that no plain access has
// touched there. Another strand's access to the former, and a plain one to the latter, is in the digest: an
// execution with one is learned twice, and the second time nothing of that memory is left out.
//
// It says nothing where a pair is possible, as in every program that protects plain data by a lock: whether
// locks order the pair depends on the interleaving. Nor where local state was compared to recognise a loop
// that waits: it includes what the runtime has left on the stack, so such an execution has to be performed in
// one way always.
#pragma once

#include "runtime/access_digest.h"
#include "runtime/race_prefilter.h"
#include "trail/execution.h"

namespace duress {

enum class AccessWatch : u8 {
  kNone,    // races are looked for if the request says so
  kDigest,  // races are not looked for: the accesses are expected to be known
  kLearn,   // races are looked for, and the accesses will be known afterwards if they cannot race
  // Something else: races are looked for, and plain reads of what atomics have written (plain_reads.h).
  kPlainReads,
};

/// What is known of executions of the same server. Lives in memory that is not put back. Zeros are valid.
struct KnownAccesses {
  void begin();
  AccessDigest digests;
  RacePrefilter prefilter;
  u64 known[AccessDigest::kRoom];
  alignas(8) char owners[RacePrefilter::kOwnerBytes];
  alignas(8) char shadows[RacePrefilter::kShadowBytes];
};

extern AccessWatch g_access_watch;

/// An execution begins. Sets Record::races_unchecked if it is performed without checks.
void access_watch_begin(const trail::Request& request, trail::Record& record);
/// It ends, and can be undone.
void access_watch_end(trail::Record& record);

/// Something happened that digests do not cover: an access by a way that is not observed, for one.
void access_watch_spoil();
inline void access_watch_missed() {
  if (DURESS_UNLIKELY(g_access_watch != AccessWatch::kNone)) access_watch_spoil();
}
/// Local state was compared.
inline void access_watch_compared() {
  if (DURESS_UNLIKELY(g_access_watch == AccessWatch::kDigest || g_access_watch == AccessWatch::kLearn))
    access_watch_spoil();
}

}  // namespace duress
