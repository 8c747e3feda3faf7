// SPDX-License-Identifier: Apache-2.0
//
// Locks whose waiting threads stand in a queue: tickets, an array, MCS, CLH. Each also with acquire and
// release.
//
// BUG ticket_broken: -DTICKET -DBROKEN
// CORRECT ticket: -DTICKET
// CORRECT ticket_acq_rel: -DTICKET -DACQ_REL
// CORRECT array_lock: -DARRAY
// CORRECT mcs: -DMCS -DTHREADS=3 -DROUNDS=1
// CORRECT mcs_acq_rel: -DMCS -DACQ_REL
// CORRECT clh: -DCLH
// CORRECT clh_acq_rel: -DCLH -DACQ_REL
#include "mutual_exclusion.h"

#ifdef ACQ_REL
static constexpr auto kUpdate = std::memory_order_acq_rel;
#else
static constexpr auto kUpdate = std::memory_order_seq_cst;
#endif

#if defined(TICKET)
static std::atomic<int> next;
static Shared<int> serving;
static void enter(int) {
#ifdef BROKEN
  int mine = next;
  next = mine + 1;
#else
  int mine = next.fetch_add(1, kUpdate);
#endif
  while (serving < mine) {
  }
}
static void leave(int) {
  serving = serving + 1;
}
#elif defined(ARRAY)
static std::atomic<int> next;
static Shared<int> may_enter[THREADS] = {1};
static int place[THREADS];
static void enter(int me) {
  place[me] = next.fetch_add(1, kUpdate) % THREADS;
  while (!may_enter[place[me]]) {
  }
  may_enter[place[me]] = 0;
}
static void leave(int me) {
  may_enter[(place[me] + 1) % THREADS] = 1;
}
#elif defined(MCS)
static std::atomic<int> last;  // 1 + the thread
static Shared<int> follower[THREADS], waits[THREADS];
static void enter(int me) {
  follower[me] = 0;
  waits[me] = 1;
  int before = last.exchange(me + 1, kUpdate);
  if (before == 0) return;
  follower[before - 1] = me + 1;
  while (waits[me]) {
  }
}
static void leave(int me) {
  if (follower[me] == 0) {
    int expected = me + 1;
    if (last.compare_exchange_strong(expected, 0, kUpdate)) return;
    while (follower[me] == 0) {
    }
  }
  waits[follower[me] - 1] = 0;
}
#else
static std::atomic<int> last{THREADS};
static Shared<int> held[THREADS + 1];
static int mine[] = {0, 1}, before[THREADS];
static_assert(THREADS == 2);
static void enter(int me) {
  held[mine[me]] = 1;
  before[me] = last.exchange(mine[me], kUpdate);
  while (held[before[me]]) {
  }
}
static void leave(int me) {
  held[mine[me]] = 0;
  mine[me] = before[me];
}
#endif
