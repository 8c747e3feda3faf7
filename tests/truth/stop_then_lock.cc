// SPDX-License-Identifier: Apache-2.0
//
// A stop flag without a lock, but whoever sets it takes the worker's mutex afterwards, and the worker takes it in every round.
//
// truth: stop harmless: the worker's next round after main's unlock happens after the store, so the loop ends and no round is lost
#include <mutex>
#include <thread>

std::mutex mutex;
bool stop = false;
int rounds = 0;
bool closed = false;

int main() {
  std::thread worker([] {
    while (!stop) {
      std::lock_guard guard(mutex);
      if (!closed) ++rounds;
    }
  });
  stop = true;
  int before;
  {
    std::lock_guard guard(mutex);
    closed = true;
    before = rounds;
  }
  worker.join();
  return rounds == before ? 0 : 1;
}
