// SPDX-License-Identifier: Apache-2.0
//
// The barrier of Java Grande's lufact and moldyn, with its fault: flags in plain memory. Threads meet in
// pairs, the lower number of each pair goes on to the next round, and thread 0 sets all free. `volatile`
// makes the compiler read the flags again and again, and the programmer believe that this is enough; it
// orders nothing, neither the flags nor what was written before the barrier.
#ifndef DURESS_EXAMPLES_TOURNAMENT_BARRIER_H_
#define DURESS_EXAMPLES_TOURNAMENT_BARRIER_H_

#include <thread>

class TournamentBarrier {
 public:
  explicit TournamentBarrier(int threads) : threads_(threads) {}

  void wait(int id) {
    const bool done = !is_done[id];  // the flags change their meaning at each barrier
    for (int round = 1; round < threads_ && id % (2 * round) == 0; round *= 2)
      if (id + round < threads_) await(id + round, done);
    is_done[id] = done;
    await(0, done);
  }

 private:
  static constexpr int kMost = 16;

  void await(int other, bool done) {
    while (is_done[other] != done) std::this_thread::yield();
  }

  const int threads_;
  volatile bool is_done[kMost] = {};
};

#endif  // DURESS_EXAMPLES_TOURNAMENT_BARRIER_H_
