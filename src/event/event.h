// SPDX-License-Identifier: Apache-2.0
//
// An event of a trace: a thread and its operation, as the runtime passes them to a chain.
#pragma once

#include "event/access.h"

namespace duress {

struct Event {
  Tid thread;
  bool is_sync;
  union {
    Access access;
    Sync sync;
  };

  static Event of(Tid thread, const Access& access) {
    Event e{thread, false, {}};
    e.access = access;
    return e;
  }
  static Event of(Tid thread, const Sync& sync) {
    Event e{thread, true, {}};
    e.sync = sync;
    return e;
  }
};

}  // namespace duress
