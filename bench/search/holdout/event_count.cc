// SPDX-License-Identifier: Apache-2.0
//
// Waiting for an event: the waiter takes the number of the last event, looks whether there is work, and
// sleeps until the number is another one. If it takes the number after it has looked, an event between is
// lost.
//
// BUG event_count_1: -DITEMS=1 -DLATE_KEY
// BUG event_count_3: -DITEMS=3 -DLATE_KEY
// CORRECT event_count: -DITEMS=2
#include "../programs/parallel.h"

static std::atomic<int> events, work;
static std::mutex mutex;
static std::condition_variable happened;

static void produce() {
  for (int i = 0; i < ITEMS; ++i) {
    ++work;
    Guard guard(mutex);
    ++events;
    happened.notify_all();
  }
}

static void consume() {
  for (int taken = 0; taken < ITEMS;) {
#ifndef LATE_KEY
    int key = events;
#endif
    if (work > 0) {
      --work;
      ++taken;
      continue;
    }
#ifdef LATE_KEY
    int key = events;
#endif
    std::unique_lock<std::mutex> lock(mutex);
    happened.wait(lock, [key] { return events != key; });
  }
}

int main() {
  in_parallel(produce, consume);
}
