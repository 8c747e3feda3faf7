// SPDX-License-Identifier: Apache-2.0
//
// A work-stealing queue: the owner pushes and pops at the tail, a thief takes from the head under a lock;
// each item must be taken once. Faults: the thief claims the item after it has looked, and the owner takes
// the last one without the lock (each alone is right); or thieves take no lock. With STATE the items carry a
// state that each stage checks.
//
// BUG stealing_late_claim: -DFAST_LAST -DLATE_CLAIM -DITEMS=2
// BUG stealing_unlocked: -DUNLOCKED -DLATE_CLAIM -DITEMS=2 -DTHIEVES=2
// BUG stealing_state: -DFAST_LAST -DLATE_CLAIM -DSTATE -DITEMS=4
// BUG stealing_state_two: -DFAST_LAST -DLATE_CLAIM -DSTATE -DITEMS=4 -DTHIEVES=2
// CORRECT stealing_right: -DITEMS=3
// CORRECT stealing_fast_last: -DFAST_LAST -DITEMS=3
// CORRECT stealing_claim_under_lock: -DLATE_CLAIM -DITEMS=3
#include "parallel.h"

#ifndef THIEVES
#define THIEVES 1
#endif

static std::mutex foreign;
static std::atomic<int> head, tail;
static std::atomic<int> items[16];
static std::atomic<int> taken[ITEMS];

static void push(int item) {
  int t = tail;
  items[t % 16] = item;
  tail = t + 1;
}

static int pop() {
  int t = tail - 1;
  tail = t;
#ifdef FAST_LAST
  if (t >= head) return items[t % 16];
#else
  if (t > head) return items[t % 16];
#endif
  Guard guard(foreign);
  if (t >= head) return items[t % 16];
  tail = t + 1;
  return -1;
}

static int steal() {
#ifndef UNLOCKED
  Guard guard(foreign);
#endif
  int h = head;
#ifdef LATE_CLAIM
  if (h >= tail) return -1;
  int item = items[h % 16];
  head = h + 1;
  return item;
#else
  head = h + 1;
  if (h < tail) return items[h % 16];
  head = h;
  return -1;
#endif
}

static void process(int item) {
  if (item < 0) return;
#ifdef STATE
  // A state machine: fresh, in work, done.
  int state = taken[item];
  assert(state == 0 || state == 2);
  taken[item] = 1;
  taken[item] = 2;
  assert(state == 0);
#else
  assert(taken[item]++ == 0);
#endif
}

static void own() {
  for (int i = 0; i < ITEMS; i += 2) {
    push(i);
    if (i + 1 < ITEMS) push(i + 1);
    process(pop());
  }
  for (int i = 0; i < ITEMS; ++i) process(pop());
}

int main() {
  in_parallel_each(1 + THIEVES, [](int me) {
    if (me == 0) return own();
    for (int i = 0; i < ITEMS; ++i) process(steal());
  });
}
