// SPDX-License-Identifier: Apache-2.0
//
// What an analysis is: it sees every synchronisation event, and the accesses to locations it owns.
// As in RoadRunner, tools form a chain; a location belongs to the first tool until that passes it on.
#ifndef DURESS_ANALYSIS_ANALYSIS_H_
#define DURESS_ANALYSIS_ANALYSIS_H_

#include "base/text.h"
#include "event/access.h"

namespace duress {

class ThreadClock;
struct FastTrackThread;

/// The thread of an event, as analyses see it.
struct AnalysisThread {
  Tid tid;
  ThreadClock* clock;          // up to date when an event is delivered
  FastTrackThread* fasttrack;  // FastTrack's own state
};

/// Where an analysis puts lines of text for the user.
class LineSink {
 public:
  virtual void line(const char* text, size_t size) = 0;

 protected:
  ~LineSink() = default;
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
  /// The process ends: say what is to be said.
  virtual void finish(LineSink& out) {}

  static void* operator new(size_t, void* place) { return place; }
  static void operator delete(void*) {}  // lives in an arena
};

}  // namespace duress

#endif  // DURESS_ANALYSIS_ANALYSIS_H_
