// SPDX-License-Identifier: Apache-2.0
//
// Data races in the executions of duress::check, found by happens-before in each of them.
//
// All executions of a process are one long program to the detector: the root of an execution follows whatever
// the strands of all earlier ones did. So nothing is reset between two executions: what is left in shadow
// memory, in locks and in atomics is ordered before everything that comes, and cannot race with it. A strand
// of the pool keeps its place in vector clocks for good.
//
// Clocks cost more than a small closure itself. So executions are first looked at for suspects
// (runtime/race_prefilter.h), and for these only if no execution with the same accesses was
// (runtime/access_digest.h); from the first that has one on, that one run again, clocks are kept.
#ifndef DURESS_CHECK_RACES_H_
#define DURESS_CHECK_RACES_H_

#include "base/text.h"
#include "duress/hooks.h"
#include "finding/race.h"
#include "runtime/heap_table.h"

namespace duress {

/// The cheapest first.
enum class RaceWatch : u8 { kNone, kDigest, kSuspects, kClocks };
extern RaceWatch g_race_watch;

// ---- check.cc
/// `learn`: what is to be told of plain accesses besides; null: nobody.
void watch_races(RaceWatch watch, void (*learn)(const void*, u64, bool, const DuressSite*));
/// From the next execution on with clocks. False: there is no memory for them.
bool watch_with_clocks();
void race_execution_begins();
void race_execution_ends();
/// kDigest: an execution like the last one was found to have no suspects.
bool races_known();
/// kDigest: the same execution is run again, for suspects. If it has none, that is known from then on.
void races_look_closer();
void races_are_none();
/// kSuspects: the execution has accesses that went unseen: it has to be run again.
bool races_unseen();
/// kSuspects: the execution has accesses that only clocks can judge.
bool races_suspected();
/// A plain access, from a hook of check.cc.
void suspect_access(const void* p, u64 size, bool write, const DuressSite* site);

/// The first race of the last execution.
struct FoundRace {
  Race race;
  u32 strands[2];              // of the earlier and the later access
  const DuressSite* sites[2];  // null: a library function, or free
  HeapBlock block;             // that both touch; start is 0: none
};
const FoundRace* race_found();
/// "data race on x: a.cc:5 writes, a.cc:9 reads". The same for two races of the same places.
void put_race(Text& text, const FoundRace& found);
/// A line for each access, with its function and locks, and one for the block of memory.
void put_race_lines(Text& text, const FoundRace& found);

}  // namespace duress

#endif  // DURESS_CHECK_RACES_H_
