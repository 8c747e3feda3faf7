// SPDX-License-Identifier: Apache-2.0
//
// A data race as the detector sees it, inside the target: two accesses and nothing that is not at
// hand. Names, stacks and files are added by the host from the log.
#ifndef DURESS_FINDING_RACE_H_
#define DURESS_FINDING_RACE_H_

#include "event/access.h"

namespace duress {

/// One of the two accesses of a race.
struct RaceSide {
  AccessKind kind;
  Place place;
  Slot slot;
  u32 clock;  // with the slot, names the thread: slots are reused
  LockSetId locks;
};

struct Race {
  const char* analysis;
  uptr address;  // the first byte both touch
  u32 size;      // how many bytes from there both touch
  RaceSide earlier;
  RaceSide later;
};

/// Takes races as they are found. Called by the racing thread, outside the detector's locks.
class RaceSink {
 public:
  virtual void race(const Race& race) = 0;

 protected:
  ~RaceSink() = default;
};

}  // namespace duress

#endif  // DURESS_FINDING_RACE_H_
