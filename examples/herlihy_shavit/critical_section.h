// SPDX-License-Identifier: Apache-2.0
//
// What every lock here is asked: two threads (with -DTHREADS=3 three) go through it, each with a plain
// counter inside. If the lock lets two in, the counter races.
#ifndef DURESS_EXAMPLES_CRITICAL_SECTION_H_
#define DURESS_EXAMPLES_CRITICAL_SECTION_H_

#include <thread>

#ifndef THREADS
#define THREADS 2
#endif

inline int counter = 0;

/// `Lock` has lock(me) and unlock(me), me < THREADS.
template <typename Lock>
int threads_count() {
  static Lock lock;
  auto body = [](int me) {
    lock.lock(me);
    ++counter;
    lock.unlock(me);
  };
  std::thread threads[THREADS];
  for (int me = 0; me < THREADS; ++me) threads[me] = std::thread(body, me);
  for (std::thread& thread : threads) thread.join();
  return counter == THREADS ? 0 : 1;
}

#endif  // DURESS_EXAMPLES_CRITICAL_SECTION_H_
