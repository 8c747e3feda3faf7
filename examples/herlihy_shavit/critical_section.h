// SPDX-License-Identifier: Apache-2.0
//
// What every lock here is asked: two threads go through it, each with a plain counter inside. If the lock
// lets both in, the counter races.
#ifndef DURESS_EXAMPLES_CRITICAL_SECTION_H_
#define DURESS_EXAMPLES_CRITICAL_SECTION_H_

#include <thread>

inline int counter = 0;

/// `Lock` has lock(me) and unlock(me), me = 0 or 1.
template <typename Lock>
int two_threads_count() {
  static Lock lock;
  auto body = [](int me) {
    lock.lock(me);
    ++counter;
    lock.unlock(me);
  };
  std::thread first(body, 0), second(body, 1);
  first.join();
  second.join();
  return counter == 2 ? 0 : 1;
}

#endif  // DURESS_EXAMPLES_CRITICAL_SECTION_H_
