// SPDX-License-Identifier: Apache-2.0
//
// One controlled execution, as the host asks for it and as the target tells of it. Both are files that host
// and target map: so a request costs no parsing, and what a crashing target had written is not lost.
//
// The choices of an execution are numbered from 0: every time more than one thread could run, and every time
// a value is chosen (which waiter a signal wakes, whether a timer fires early). Most choices are the default
// one: the running thread goes on, or, where it cannot, the runnable one with the lowest number; of values,
// 0. A trail lists the others, the *deviations*. So a run with three preemptions is three entries, however
// long.
#ifndef DURESS_TRAIL_EXECUTION_H_
#define DURESS_TRAIL_EXECUTION_H_

#include "base/types.h"

namespace duress::trail {

inline constexpr u32 kMagic = 0x53525544;  // "DURS"
inline constexpr u32 kVersion = 5;

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
/// of the sites, every so many-th in a row of one thread, so that who waits for a plain variable lets others
/// go on before anybody knows that it races. The last cannot be replayed; it is for runs that look for races.
enum class Points : u32 { kSync = 0, kAll = 1, kLongRuns = 2 };
// What is followed beside the schedule. Clocks are enough for a memory model and cost nothing where nothing
// is synchronised.
inline constexpr u32 kDetectNothing = 0;
inline constexpr u32 kDetectRaces = 1;   // the analysis chain runs too
inline constexpr u32 kDetectClocks = 2;  // who happens before whom, but no access is checked
enum class Backend : u32 { kFiber = 0, kThread = 1 };

/// What the execution ended with, as far as the runtime can tell; signals and exit codes are seen outside.
enum class Outcome : u32 {
  kRunning = 0,  // still in it: it crashed, was killed, or its process never came to an end
  kEnded,        // exit, or main returned
  kDeadlock,
  kLivelock,
  kStepLimit,
  kStuck,   // a thread ran for long without reaching a schedule point
  kFailed,  // duress::check saw the closure fail
};

struct SitePair {
  u32 first, second;  // site keys, see site_key() in site_key.h
};

/// A load and a value for it that memory does not hold yet: what a profile finds, and what a request wants to
/// be returned there. The load is named by its *dynamic location*: thread, site, count.
struct Prediction {
  u32 strand;    // its number
  u32 site;      // key of the site
  u32 count;     // the load is the so many-th of that strand at that site; the first is 1
  u32 size;      // bytes, 1 to 16
  u64 value[2];  // the lower 8 bytes first; what is beyond `size` is 0
  bool operator==(const Prediction&) const = default;
};
static_assert(sizeof(Prediction) == 32);

/// A choice of the exhaustive strategy: the strand, by its number in every execution (exhaustive/step_log.h),
/// and of a signal 1 + the strand that it wakes.
struct Pick {
  u8 strand, value;
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

/// In file REQUEST; written by the host before each execution.
struct Request {
  u32 magic = kMagic, version = kVersion;
  u64 seed = 1;
  u32 strategy = 0;    // StrategyId
  u32 depth = 3;       // pct: d
  u64 length = 0;      // how many choices an execution is expected to have; 0: not known
  u64 most_steps = 0;  // 0: the default limit
  Points points = Points::kSync;
  Backend backend = Backend::kFiber;
  u32 detect = kDetectNothing;
  u32 trace = 0;  // 1: write every step to the log
  u32 model =
      0;  // memory::ModelId; values are replaced at the sites below, and wherever their variables are named
  u32 heuristic = 0;    // memory::HeuristicId; a replay takes the values from its trail
  u32 fair_after = 16;  // stale loads in a row after which the newest value must come; 0: it need not
  u32 tear = 8;         // wider values are read in pieces
  u32 profile = 0;      // 1: the record shall list which loads could return values of the future
  u32 predictions = 0;  // last of all lists: Prediction, values of the future that loads shall return
  u32 sites = 0;        // how many keys of sites that are schedule points follow, those of `waits` among them
  u32 pairs = 0;        // then SitePair: what racefuzzer is after
  u64 deviations = 0;   // then Deviation: what replay follows
  u32 steps = 0;        // 1: only steps that others can tell are choices, and they are written down
  u32 picks = 0;        // after all other lists: Pick, the first choices of the exhaustive strategy
  u32 waits = 0;        // the last so many sites are no points: see SitePoints::waits
  u32 sample = 0;       // 1: the variables of the sites are meant, and of arrays some elements only
  // Executions by steps: so many spurious wake-ups and early timeouts in a row of a thread at a place are
  // choices; 0: there are none.
  u32 spurious = 0, timeouts = 0;
  // u32 site_keys[sites (+1 if odd)], SitePair pairs[pairs], Deviation deviations[deviations],
  // Prediction predictions[predictions], Pick picks[picks]

  const u32* site_keys() const { return reinterpret_cast<const u32*>(this + 1); }
  u32* site_keys() { return reinterpret_cast<u32*>(this + 1); }
  const SitePair* site_pairs() const {
    return reinterpret_cast<const SitePair*>(site_keys() + (sites + 1) / 2 * 2);
  }
  SitePair* site_pairs() { return reinterpret_cast<SitePair*>(site_keys() + (sites + 1) / 2 * 2); }
  const Deviation* trail() const { return reinterpret_cast<const Deviation*>(site_pairs() + pairs); }
  Deviation* trail() { return reinterpret_cast<Deviation*>(site_pairs() + pairs); }
  const Prediction* predicted() const { return reinterpret_cast<const Prediction*>(trail() + deviations); }
  Prediction* predicted() { return reinterpret_cast<Prediction*>(trail() + deviations); }
  u64 bytes() const {
    return sizeof(Request) + (sites + 1) / 2 * 8 + pairs * sizeof(SitePair) + deviations * sizeof(Deviation) +
           predictions * sizeof(Prediction) + (picks * sizeof(Pick) + 7) / 8 * 8;
  }
  const Pick* picked() const { return reinterpret_cast<const Pick*>(predicted() + predictions); }
  Pick* picked() { return reinterpret_cast<Pick*>(predicted() + predictions); }
};
static_assert(sizeof(Request) == 120);

/// In file RECORD; cleared by the host before each execution, written by the target while it runs.
struct Record {
  u32 magic = 0, version = 0;  // set when the execution begins
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
  u64 unvalidated = 0;       // of these, how many were never stored concurrently: not 0, and nothing counts
  u64 stores = 0;            // at the sites of the request
  u64 changing_stores = 0;   // of these, how many changed memory
  // JUMBLE's figure 10: locations with a history, stores that reached one, the longest, the longest if
  // nothing were compressed, loads that reached one.
  u64 instances = 0, writes = 0, largest = 0, largest_uncompressed = 0, reads = 0;
  u64 replaced = 0;  // loads with another value than memory held
  static constexpr u32 kMostReplaced = 16;
  Replaced first_replaced[kMostReplaced] = {};  // the first of them
  u64 profiled = 0;                             // how many Prediction are at kProfileOffset
  u64 early_stores = 0;                         // atomic stores that are not last in modification order
  u64 long_runs = 0;  // times a thread was made to wait because it went on for long past plain accesses
  u64 published = 0;  // see as_if.h
  u64 deviations = 0;
  // Deviation trail[]

  const Deviation* trail() const { return reinterpret_cast<const Deviation*>(this + 1); }
  Deviation* trail() { return reinterpret_cast<Deviation*>(this + 1); }
  inline const Prediction* profile() const;
  inline Prediction* profile();
};
static_assert(sizeof(Record) % 8 == 0);

/// Sizes of the two files. Sparse: only what is written takes room.
inline constexpr u64 kRequestBytes = u64{64} << 20;
inline constexpr u64 kRecordBytes = u64{64} << 20;
inline constexpr u64 kMostProfiled = u64{1} << 14;
inline constexpr u64 kProfileOffset = kRecordBytes - kMostProfiled * sizeof(Prediction);
/// Where the steps of an explored execution are, an exhaustive::StepLog.
inline constexpr u64 kStepsBytes = u64{8} << 20;
inline constexpr u64 kStepsOffset = kProfileOffset - kStepsBytes;
inline constexpr u64 kMostDeviations = (kStepsOffset - sizeof(Record)) / sizeof(Deviation);

/// In the order in which the loads ran; several values for one load follow each other.
inline const Prediction* Record::profile() const {
  return reinterpret_cast<const Prediction*>(reinterpret_cast<const char*>(this) + kProfileOffset);
}
inline Prediction* Record::profile() {
  return reinterpret_cast<Prediction*>(reinterpret_cast<char*>(this) + kProfileOffset);
}

// The fork server. The target is started once, with `server=IN,OUT` in DURESS_OPTIONS; it stops before main
// or at its first thread. Each kRun byte on IN makes it fork a child that performs the request; it answers on
// OUT with a Reply for the start (status -1) and one for the end. End of file on IN ends the server.
inline constexpr char kRun = 'r';
struct Reply {
  int pid;
  int status;  // as waitpid gives it; -1: started
};

}  // namespace duress::trail

#endif  // DURESS_TRAIL_EXECUTION_H_
