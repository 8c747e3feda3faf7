// SPDX-License-Identifier: Apache-2.0
//
// The protocol between host and target: one controlled execution as the host asks for it (Request) and as
// the target reports it (Record). Both are files that host and target map: a request costs no parsing, and
// what a crashing target had written is not lost. docs/design/trail.md says who writes and reads what.
//
// The choices of an execution are numbered from 0: every time more than one thread could run, and every time
// a value is chosen (which waiter a signal wakes, whether a timer fires early). Most choices are the default
// one: the running thread goes on, or, where it cannot, the runnable one with the lowest number; of values,
// 0. A trail lists the others, the *deviations*. So a run with three preemptions is three entries, however
// long.
#pragma once

#include "base/types.h"
#include "catalog/heuristics.h"
#include "catalog/models.h"
#include "catalog/orders.h"
#include "catalog/strategies.h"
#include "trail/outcome.h"
#include "trail/planned_switch.h"
#include "trail/side_events.h"
#include "trail/what_if.h"

namespace duress::trail {

inline constexpr u32 kMagic = 0x53525544;  // "DURS"
inline constexpr u32 kVersion = 15;

enum class ChoiceKind : u32 { kThread = 0, kValue = 1 };

struct Deviation {
  u32 choice;         // number of the choice
  u32 kind_and_pick;  // ChoiceKind in the highest bit; the strand's number or the value below
  ChoiceKind kind() const { return static_cast<ChoiceKind>(kind_and_pick >> 31); }
  u32 pick() const { return kind_and_pick & 0x7fffffffu; }
  static Deviation of(u32 choice, ChoiceKind kind, u32 pick) {
    return {choice, static_cast<u32>(kind) << 31 | pick};
  }
  bool operator==(const Deviation&) const = default;
};

/// Which plain accesses are schedule points: those of the sites that a request names; all; or, besides those
/// of the sites, every n-th in a row of one thread, so that a thread that waits for a plain variable lets
/// others run before anybody knows that it races. The last cannot be replayed; it is for runs that look for
/// races.
enum class Points : u32 { kSync = 0, kAll = 1, kLongRuns = 2 };
/// What is followed beside the schedule. Clocks are enough for a memory model and cost nothing where nothing
/// is synchronised.
enum class Detect : u32 {
  kNothing = 0,
  kRaces = 1,   // the analysis chain runs
  kClocks = 2,  // happens-before is followed, but no access is checked
};
/// Which timeouts may come although other threads could run: those shorter than ten seconds, none, all.
enum class EarlyTimeouts : u8 { kShort = 0, kNone = 1, kAll = 2 };
enum class Backend : u32 { kFiber = 0, kThread = 1 };

/// What became of the process that performed an execution.
enum class Rollback : u32 {
  kNone = 0,  // it ended; rolling it back was not tried
  kDone,      // it was put back to the state before the execution, and performs the next one
  // It ended, because it could not be put back:
  kCall,         // it made a system call that cannot be undone: Record::rollback_call
  kThreads,      // it had threads at its end
  kOwnThread,    // a thread could not be run by another kernel thread
  kMappings,     // its memory map was another one at its end
  kMemory,       // it wrote too much memory
  kUnsupported,  // the machine has no way to find out which pages were written, or which calls were made
};

struct SitePair {
  u32 first, second;  // site keys, see site_key() in site_key.h
  bool operator==(const SitePair&) const = default;
};

/// A load and a value for it that memory does not hold yet: what a profile finds, and what a request wants to
/// be returned there. The load is named by its *dynamic location*: thread, site, ordinal.
struct Prediction {
  u32 strand;    // its number
  u32 site;      // key of the site
  u32 ordinal;   // the load is the n-th of that strand at that site; the first is 1
  u32 size;      // bytes, 1 to 16
  u64 value[2];  // the lower 8 bytes first; what is beyond `size` is 0
  bool operator==(const Prediction&) const = default;
};
static_assert(sizeof(Prediction) == 32);

/// A choice of the exhaustive strategy: the strand, by its number in every execution (exhaustive/step_log.h),
/// and of a signal 1 + the strand that it wakes.
struct Pick {
  u8 strand, value;
  bool operator==(const Pick&) const = default;
};

/// How a value is shown; the compiler does not tell signed from unsigned.
enum class ValueType : u8 { kInteger = 0, kFloat = 1, kPointer = 2 };

/// A load that returned another value than memory held.
struct Replaced {
  u32 strand;
  u32 site;   // key
  u32 size;   // bytes
  u8 future;  // 1: a value that was not stored yet; 0: an older one
  ValueType type;
  u16 unused;
  u64 value[2], newest[2];
};
static_assert(sizeof(Replaced) == 48);

/// A list behind a request.
template <typename T>
struct List {
  T* items;
  u64 count;
  T* data() const { return items; }
  u64 size() const { return count; }
  T* begin() const { return items; }
  T* end() const { return items + count; }
  T& operator[](u64 i) const { return items[i]; }
};

inline constexpr u64 kDefaultMostSteps = 10'000'000;
inline constexpr u32 kMostPlain = 20'000;  // accesses that Request::trace_plain writes down

/// In file REQUEST; written by the host before each execution.
struct Request {
  u32 magic = kMagic;
  u32 version = kVersion;
  u64 seed = 1;
  StrategyId strategy = StrategyId::kReplay;
  u32 depth = 3;             // pct: d, one more than the number of priority changes
  u64 expected_choices = 0;  // pct, racefuzzer: how many choices the execution will have; 0: not known
  u64 most_steps = 0;        // 0: kDefaultMostSteps
  Points points = Points::kSync;
  Backend backend = Backend::kFiber;
  Detect detect = Detect::kNothing;
  ModelId model = ModelId::kSc;  // plain models: of the variables of the sites; rc11: of all atomics
  HeuristicId heuristic = HeuristicId::kSequentiallyConsistent;  // a replay takes the values from its trail
  u32 fair_after = 16;  // stale loads in a row after which the newest value must come; 0: it need not
  u32 tear = 8;         // bytes: wider values are read in pieces
  ExplorationOrder exploration_order = ExplorationOrder::kRunOn;  // exhaustive
  u64 priority_strands = 0;  // exhaustive, by graph: a bit by id for each strand that runs first, once
  u64 trace_from = 0;        // trace: what comes before this many steps is left out
  // Systematic executions: how many spurious wake-ups, and early timeouts, in a row of a thread at a place
  // are choices.
  u32 spurious = 0;
  u32 timeouts = 0;
  bool trace = false;            // every step is written to the log
  bool trace_plain = false;      // and every plain access that is no step
  bool systematic = false;       // only steps that other strands can observe are choices; they are recorded
  bool sample = false;           // the sites stand for their variables, and of arrays for some elements
  bool profile_futures = false;  // Record::future_values is wanted
  bool profile_atomics = false;  // systematic executions: Record::atomic_profile is wanted
  bool variables = false;        // the sites stand for their variables: all sites that name one are points
  EarlyTimeouts early_timeouts = EarlyTimeouts::kShort;
  bool observe = false;   // Record::signature and the list of reads-from pairs are wanted
  bool symmetry = false;  // which threads are created alike is wanted (StepLog::Origin)
  bool memory = false;    // memory errors are looked for (runtime/memory_guard.h); `detect` is not kNothing
  // Systematic executions that look for races, in a process that is rolled back (runtime/access_watch.h).
  bool skip_known = false;      // they need not be looked for where the accesses are known not to race
  bool learn_accesses = false;  // look for them, and remember the accesses
  // Systematic executions: plain reads are looked for whose value depends on the order of atomic stores.
  bool reads_from = false;
  u8 unused[2] = {};  // requests are sent as bytes, without padding
  // Lengths of the lists behind this struct.
  u32 site_count = 0;        // keys of sites that are schedule points
  u32 wait_site_count = 0;   // keys of sites that are not, but end a long run of one thread
  u32 pair_count = 0;        // what racefuzzer brings together
  u32 prediction_count = 0;  // values of the future that loads return
  u32 edit_count = 0;        // systematic executions: what-if edits
  u32 pick_count = 0;        // the first choices of the exhaustive strategy
  u32 planned_count = 0;     // what guided follows
  u32 ahead_count = 0;       // further requests that follow this one (trail/ahead.h)
  u64 deviation_count = 0;   // what replay follows

  /// Where each list begins, in bytes from the struct: the only place that knows their order. Each begins at
  /// a multiple of 8.
  struct Layout {
    u64 sites, wait_sites, pairs, deviations, predictions, edits, planned, picks, end;
  };
  Layout layout() const {
    Layout at;
    at.sites = sizeof(Request);
    at.wait_sites = after(at.sites, site_count * sizeof(u32));
    at.pairs = after(at.wait_sites, wait_site_count * sizeof(u32));
    at.deviations = after(at.pairs, pair_count * sizeof(SitePair));
    at.predictions = after(at.deviations, deviation_count * sizeof(Deviation));
    at.edits = after(at.predictions, prediction_count * sizeof(Prediction));
    at.planned = after(at.edits, edit_count * sizeof(WhatIfEdit));
    at.picks = after(at.planned, planned_count * sizeof(PlannedSwitch));
    at.end = after(at.picks, pick_count * sizeof(Pick));
    return at;
  }
  u64 bytes() const { return layout().end; }

  List<const u32> sites() const { return list<const u32>(layout().sites, site_count); }
  List<const u32> wait_sites() const { return list<const u32>(layout().wait_sites, wait_site_count); }
  List<const SitePair> pairs() const { return list<const SitePair>(layout().pairs, pair_count); }
  List<const Deviation> trail() const { return list<const Deviation>(layout().deviations, deviation_count); }
  List<const Prediction> predictions() const {
    return list<const Prediction>(layout().predictions, prediction_count);
  }
  List<const WhatIfEdit> edits() const { return list<const WhatIfEdit>(layout().edits, edit_count); }
  List<const PlannedSwitch> planned() const {
    return list<const PlannedSwitch>(layout().planned, planned_count);
  }
  List<const Pick> picks() const { return list<const Pick>(layout().picks, pick_count); }

  // For the writer, who has set the lengths before.
  List<u32> sites() { return list<u32>(layout().sites, site_count); }
  List<u32> wait_sites() { return list<u32>(layout().wait_sites, wait_site_count); }
  List<SitePair> pairs() { return list<SitePair>(layout().pairs, pair_count); }
  List<Deviation> trail() { return list<Deviation>(layout().deviations, deviation_count); }
  List<Prediction> predictions() { return list<Prediction>(layout().predictions, prediction_count); }
  List<WhatIfEdit> edits() { return list<WhatIfEdit>(layout().edits, edit_count); }
  List<PlannedSwitch> planned() { return list<PlannedSwitch>(layout().planned, planned_count); }
  List<Pick> picks() { return list<Pick>(layout().picks, pick_count); }

  /// Whether the hooks have what-if edits to carry out, or atomic operations to list.
  bool asks_what_if() const { return systematic && (edit_count != 0 || profile_atomics); }

 private:
  static constexpr u64 after(u64 begin, u64 bytes) { return (begin + bytes + 7) / 8 * 8; }
  template <typename T>
  List<T> list(u64 at, u64 count) const {
    return {reinterpret_cast<T*>(reinterpret_cast<uptr>(this) + at), count};
  }
};
static_assert(sizeof(Request) == 152);

/// What a search for memory errors could not see: freed memory had to be used again, because it was too much
/// to keep; the heap is another's, a sanitizer's.
inline constexpr u32 kMemoryReused = 1, kHeapNotSeen = 2;

/// In file RECORD; cleared by the host before each execution, written by the target while it runs.
struct Record {
  u32 magic = 0;  // set when the execution begins
  u32 version = 0;
  Outcome outcome = Outcome::kRunning;
  u32 strands = 0;  // how many there were
  u64 steps = 0;    // schedule points
  u64 choices = 0;
  u64 switches = 0;          // times another strand went on although the running one could have: preemptions
  u64 diverged = 0;          // replay: 1 + the first choice that could not be followed; 0: none
  u32 uncontrolled = 0;      // 1: something ran that the scheduler could not control (it is in the log)
  u32 truncated = 0;         // 1: there were more deviations than fit
  u64 races_created = 0;     // racefuzzer: times both accesses of a pair were brought together
  SitePair created[8] = {};  // the first of them
  u64 stale_loads = 0;       // loads that returned an older value than memory held
  u64 future_loads = 0;      // loads that returned a value which was not stored yet
  u64 unvalidated = 0;       // of these, how many were not stored concurrently yet; if it stays so, the
                             // execution is not legal and its results are discarded
  u64 stores = 0;            // at the sites of the request
  u64 changing_stores = 0;   // of these, how many changed memory
  // JUMBLE's figure 10.
  u64 instances = 0;             // locations with a history
  u64 writes = 0;                // stores that reached one
  u64 largest = 0;               // the longest history
  u64 largest_uncompressed = 0;  // the longest if nothing were compressed
  u64 reads = 0;                 // loads that reached one
  u64 replaced = 0;              // loads with another value than memory held
  static constexpr u32 kMostReplaced = 16;
  Replaced first_replaced[kMostReplaced] = {};  // the first of them
  u64 early_stores = 0;                         // atomic stores that are not last in modification order
  u64 long_runs = 0;    // times a thread was made to wait after a long run of plain accesses
  u64 log_bytes = 0;    // written to the log of the process; a log with fewer is not whole
  u32 own_signal = 0;   // the last signal that the program itself caused: a fault, or sent to itself
  u32 tool_failed = 0;  // 1: the runtime could not go on, and said why on standard error
  Rollback rollback = Rollback::kNone;
  u32 rollback_call = 0;    // number of the system call
  u32 write_failed = 0;     // kDone: 1: something could not be written, which may have been output
  u32 wrote = 0;            // kDone: 1: something was written, which may have been output
  u32 from_checkpoint = 0;  // kDone: 1: it began at its first choice, where an earlier one had come to
  u32 memory_limits = 0;    // of Request::memory: kMemory*
  u32 races_unchecked = 0;  // with Request::skip_known: 1: races were not looked for, and may be there
  u32 unused = 0;
  u64 publishing_store = 0;  // where the call of the atomic store returns to that WhatIfEdit::kPublishedAfter
                             // moved, or could move; 0: none
  // With Request::observe: equal in executions with the same accesses that read from the same ones.
  u64 signature = 0;
  // Lengths of the lists behind this struct, at the offsets below.
  u64 future_value_count = 0;    // values of the future that loads could have returned
  u64 atomic_profile_count = 0;  // atomic operations that ran
  u64 side_event_count = 0;
  u64 observed_pair_count = 0;  // with Request::observe: who read from whom, each once
  u64 switch_point_count = 0;   // guided: where another plan could go on
  u64 deviations = 0;           // the trail, which follows the struct

  const Deviation* trail() const { return reinterpret_cast<const Deviation*>(this + 1); }
  Deviation* trail() { return reinterpret_cast<Deviation*>(this + 1); }
  /// In the order in which the loads ran; several values for one load follow each other.
  inline Prediction* future_values() const;
  inline AtomicProfileEntry* atomic_profile() const;
  inline SideEvent* side_events() const;
  inline u32* observed_pairs() const;
  inline SwitchPoint* switch_points() const;
};
static_assert(sizeof(Record) % 8 == 0);

/// Sizes of the two files. Sparse: only what is written takes room.
inline constexpr u64 kRequestBytes = u64{64} << 20;
inline constexpr u64 kRecordBytes = u64{64} << 20;
// The record's lists, from the end of the file: future values, atomic profile, side events, the steps of a
// systematic execution (an exhaustive::StepLog), reads-from pairs, switch points; then executions ahead. The
// trail has the rest.
inline constexpr u64 kMostFutureValues = u64{1} << 14;
inline constexpr u64 kMostAtomicProfile = u64{1} << 12;
inline constexpr u64 kMostSideEvents = u64{1} << 11;
inline constexpr u64 kStepsBytes = u64{8} << 20;
inline constexpr u64 kFutureValuesOffset = kRecordBytes - kMostFutureValues * sizeof(Prediction);
inline constexpr u64 kAtomicProfileOffset =
    kFutureValuesOffset - kMostAtomicProfile * sizeof(AtomicProfileEntry);
inline constexpr u64 kSideEventsOffset = kAtomicProfileOffset - kMostSideEvents * sizeof(SideEvent);
inline constexpr u64 kStepsOffset = kSideEventsOffset - kStepsBytes;
inline constexpr u64 kMostObservedPairs = 512;
inline constexpr u64 kMostSwitchPoints = 256;
inline constexpr u64 kObservedPairsOffset = kStepsOffset - kMostObservedPairs * sizeof(u32);
inline constexpr u64 kSwitchPointsOffset = kObservedPairsOffset - kMostSwitchPoints * sizeof(SwitchPoint);
inline constexpr u64 kAheadBytes = u64{2} << 20;
inline constexpr u64 kAheadOffset = kSwitchPointsOffset - kAheadBytes;  // trail/ahead.h
inline constexpr u64 kMostDeviations = (kAheadOffset - sizeof(Record)) / sizeof(Deviation);

inline Prediction* Record::future_values() const {
  return reinterpret_cast<Prediction*>(reinterpret_cast<uptr>(this) + kFutureValuesOffset);
}
inline AtomicProfileEntry* Record::atomic_profile() const {
  return reinterpret_cast<AtomicProfileEntry*>(reinterpret_cast<uptr>(this) + kAtomicProfileOffset);
}
inline SideEvent* Record::side_events() const {
  return reinterpret_cast<SideEvent*>(reinterpret_cast<uptr>(this) + kSideEventsOffset);
}
inline u32* Record::observed_pairs() const {
  return reinterpret_cast<u32*>(reinterpret_cast<uptr>(this) + kObservedPairsOffset);
}
inline SwitchPoint* Record::switch_points() const {
  return reinterpret_cast<SwitchPoint*>(reinterpret_cast<uptr>(this) + kSwitchPointsOffset);
}

// The fork server. The target is started once, with `server=IN,OUT` in DURESS_OPTIONS; it stops before main
// or at its first thread. Each kRun byte on IN makes it fork a child that performs the request; it answers on
// OUT with a Reply for the start (status -1) and one for the end. End of file on IN ends the server.
//
// A child whose execution can be undone stays, rolls itself back and takes the next kRun in the server's
// place, with the same replies; to kRunKept with that for the end alone, because the host knows its pid.
// kEndKept makes such a child end.
inline constexpr char kRun = 'r';
inline constexpr char kRunKept = 'k';
inline constexpr char kEndKept = 'e';
struct Reply {
  int pid;
  int status;  // as waitpid gives it; -1: started
};

}  // namespace duress::trail
