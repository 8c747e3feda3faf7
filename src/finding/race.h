// SPDX-License-Identifier: Apache-2.0
//
// A data race as the detector sees it, inside the target: two accesses and nothing that is not at
// hand. Names, stacks and files are added by the host from the log.
#pragma once

#include "event/access.h"

namespace duress {

/// One of the two accesses of a race.
struct RaceSide {
  static constexpr Slot kByThread{65535};

  AccessKind kind;
  Place place;
  Slot slot;  // kByThread: `clock` is the thread's Tid
  u32 clock;  // with the slot, names the thread: slots are reused
  LockSetId locks;
};

struct Race {
  const char* analysis;
  uptr address;  // the first byte both touch
  u32 size;      // how many bytes from there both touch
  RaceSide earlier;
  RaceSide later;
  bool potential = false;  // the analysis may be wrong; what it says is a suspicion to be confirmed
};

/// Anything else that an analysis warns of: up to four accesses or other places that belong together. It is
/// a suspicion too.
struct Warning {
  static constexpr u32 kMostSides = 4;

  const char* analysis;
  const char* what;  // a kind, in a few words that do not change
  uptr address;      // of the location or lock it is about; 0: none
  u32 count;
  RaceSide sides[kMostSides];
};

/// Takes races as they are found. Called by the racing thread, outside the detector's locks.
class RaceSink {
 public:
  virtual void race(const Race& race) = 0;
  virtual void warning(const Warning&) {}

 protected:
  ~RaceSink() = default;
};

}  // namespace duress
