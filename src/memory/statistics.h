// SPDX-License-Identifier: Apache-2.0
//
// What the histories did, in the terms of the JUMBLE paper's figure 10, with its rules by name.
#pragma once

#include "base/types.h"

namespace duress::memory {

/// Threads: as the model that owns it.
struct Statistics {
  u64 instances = 0;  // times an access began to be tracked where nothing was
  u64 writes = 0;     // stores and range writes that reached a history
  u64 reads = 0;      // loads that reached a history

  u32 largest = 0;               // entries of the longest history, after compression
  u64 largest_uncompressed = 0;  // entries it would have had without any of the three rules

  u64 gc1 = 0;            // entries removed: visible to no thread
  u64 gc2 = 0;            // entries removed: the same value again in the same epoch
  u64 remove_oldest = 0;  // entries removed: the history was full. Behaviours were lost

  u64 open_reads = 0;   // reads with more than one legal value in some piece
  u64 stale_reads = 0;  // reads that returned something else than memory holds
  u64 fair_reads = 0;   // open reads that had to be newest, for fairness

  u64 splits = 0;       // histories cut in two by a store to a part of the location
  u64 unseen = 0;       // histories dropped: memory held what no store that we saw wrote
  u64 not_tracked = 0;  // accesses that would have begun to be tracked, had there been room
};

}  // namespace duress::memory
