// SPDX-License-Identifier: Apache-2.0
//
// Sellers look whether there is a seat left, and then sell it. Most pairs of them cannot meet at the last
// one.
//
// BUG tickets_3: -DSELLERS=3 -DSEATS=5
// BUG tickets_8: -DSELLERS=8 -DSEATS=30
// CORRECT tickets_locked: -DSELLERS=3 -DSEATS=5 -DLOCKED
#include "parallel.h"

static std::mutex mutex;
static int sold;

static bool sell() {
  std::unique_lock lock(mutex);
  if (sold >= SEATS) return false;
#ifndef LOCKED
  lock.unlock();
  lock.lock();
#endif
  ++sold;
  return true;
}

int main() {
  in_parallel_each(SELLERS, [](int) {
    while (sell()) {
    }
  });
  assert(sold <= SEATS);
}
