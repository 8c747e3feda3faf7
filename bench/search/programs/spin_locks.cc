// SPDX-License-Identifier: Apache-2.0
//
// One variable that is set by an update: test-and-set, test-and-test-and-set; broken: a test, then a store.
//
// BUG spin_lock_broken: -DBROKEN
// CORRECT test_and_set: -DTAS
// CORRECT test_and_set_acq_rel: -DTAS -DACQ_REL
// CORRECT test_first: -DTTAS
// CORRECT test_first_acq_rel: -DTTAS -DACQ_REL
#include "mutual_exclusion.h"

#ifdef ACQ_REL
static constexpr auto kTake = std::memory_order_acquire, kGive = std::memory_order_release;
#else
static constexpr auto kTake = std::memory_order_seq_cst, kGive = std::memory_order_seq_cst;
#endif
static std::atomic<int> taken;

static void enter(int) {
#ifdef BROKEN
  while (taken) {
  }
  taken = 1;
#elif defined(TAS)
  while (taken.exchange(1, kTake)) {
  }
#else
  do {
    while (taken.load(std::memory_order_relaxed)) {
    }
  } while (taken.exchange(1, kTake));
#endif
}

static void leave(int) {
  taken.store(0, kGive);
}
