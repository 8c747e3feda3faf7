// SPDX-License-Identifier: Apache-2.0
//
// Data races in the executions of duress::check, found by happens-before in each of them.
//
// To the detector all executions of a process are one long program: the root of an execution follows
// everything that the strands of all earlier ones did. So nothing is reset between two executions: what is
// left in shadow memory, in locks and in atomics is ordered before everything that follows, and cannot race
// with it. A strand of the pool keeps its slot in vector clocks for good.
//
// Clocks cost more than a small closure itself. So executions first pass a prefilter
// (runtime/race_prefilter.h), and that only if no execution with the same accesses did
// (runtime/access_digest.h). From the first execution on that can have a race, and that one again, clocks are
// used.
#pragma once

#include "base/text.h"
#include "duress/hooks.h"
#include "finding/race.h"
#include "runtime/heap_table.h"

namespace duress {

/// How executions are searched for races, the cheapest first.
enum class RaceWatch : u8 { kNone, kDigest, kPrefilter, kClocks };
extern RaceWatch g_race_watch;

/// `learn`: observes plain accesses besides; null: nobody.
void watch_races(RaceWatch watch, void (*learn)(const void*, u64, bool, const DuressSite*));
/// From the next execution on with clocks. False: there is no memory for them.
bool watch_with_clocks();
void race_execution_begins();
void race_execution_ends();

// ---- kDigest
/// The prefilter passed an execution with the same accesses as the last one.
bool same_accesses_had_no_race();
/// From the next execution on with the prefilter: the caller runs the same execution again.
void rerun_with_prefilter();
/// That execution cannot have a race, and neither can others with the same accesses.
void remember_no_race();

// ---- kPrefilter
/// The prefilter dropped accesses that it needs: the same execution has to be run again.
bool prefilter_must_rerun();
/// The last execution has accesses of which only clocks can tell whether they race.
bool prefilter_race_possible();
/// A plain access, from an observer.
void prefilter_access(const void* p, u64 size, bool write, const DuressSite* site);

// ---- kClocks
/// Sites that race are marked from now on, all of every execution: the caller promotes them to points.
void mark_racing_sites(bool on);
/// Since then an access raced that is no site: one of a library function.
bool raced_in_library();

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
