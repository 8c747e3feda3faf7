// SPDX-License-Identifier: Apache-2.0
//
// The interface of an analysis: it sees every synchronisation event, and the accesses to locations it owns.
// As in RoadRunner, tools form a chain; a location belongs to the first tool until that passes it on.
#pragma once

#include "base/text.h"
#include "event/access.h"
#include "finding/race.h"

namespace duress {

class Analysis;
class LockSets;
class ThreadClock;

/// The thread of an event, as analyses see it.
struct AnalysisThread {
  Tid tid;
  ThreadClock* clock;                // up to date when an event is delivered
  void* inline_state;                // of the analysis with an inline path; it alone knows the type
  const LockSetId* locks = nullptr;  // what it holds; at a lock with it, at an unlock still with it
};

/// Where an analysis puts lines of text for the user.
class LineSink {
 public:
  virtual void line(const char* text, size_t size) = 0;

 protected:
  ~LineSink() = default;
};

/// Where an analysis puts its counters, named after the rules of its paper.
class CounterSink {
 public:
  virtual void counter(const char* name, u64 value) = 0;

 protected:
  ~CounterSink() = default;
};

/// Names of threads and locations for analyses that print their state step by step.
class Namer {
 public:
  virtual void thread(Tid tid, Text& into) const = 0;
  virtual void location(uptr address, Text& into) const = 0;

 protected:
  ~Namer() = default;
};

/// What an analysis is made of. In the target this is the runtime's, offline the player's.
struct AnalysisContext {
  Arena& arena;
  RaceSink& findings;
  LineSink& lines;
  LockSets& lock_sets;
  /// The analysis with an inline path. Its state is in the shadow; there is one shadow, so there is one such
  /// analysis, owned by the owner of the shadow, and each mention in a chain is this one.
  Analysis* inline_analysis;
  const Namer* steps = nullptr;  // not null: analyses that support it print their state after each event
};

/// What becomes of an access, and of the location, after an analysis has seen it.
enum class Pass : u8 {
  kKeep,     // the event ends here
  kForward,  // the next tool sees this event too; the location stays here
  kGive,     // the next tool sees this event and owns the location from now on
};

/// Threads: events of different threads may come at the same time; an analysis locks what it shares.
class Analysis {
 public:
  virtual ~Analysis() = default;
  virtual const char* name() const = 0;
  virtual Pass access(AnalysisThread& thread, const Access& access) = 0;
  virtual void sync(AnalysisThread& thread, const Sync& sync) {}
  /// New memory (an allocation, a stack, a mapping): what was there before is another location.
  virtual void fresh(uptr begin, uptr end) {}
  /// The process ends: print the summary, if there is one.
  virtual void finish(LineSink& out) {}
  virtual void counters(CounterSink& out) const {}
  /// Optional: instrumented code can call the analysis directly, without an event, and decides most accesses
  /// inline (fasttrack/hot_path.h). It then also checks atomics while they are performed.
  virtual bool has_inline_path() const { return false; }

  static void* operator new(size_t, void* place) { return place; }
  static void operator delete(void*) {}  // lives in an arena
};

/// How an analysis is made: each defines `Analysis* make_IDENTIFIER(const AnalysisContext&)`, IDENTIFIER as
/// in catalog/analyses.h, with this.
#define DURESS_DEFINE_ANALYSIS(identifier, ...)                 \
  Analysis* make_##identifier(const AnalysisContext& context) { \
    void* memory = context.arena.allocate(sizeof(identifier));  \
    return new (memory) identifier(__VA_ARGS__);                \
  }                                                             \
  static_assert(true)

}  // namespace duress
