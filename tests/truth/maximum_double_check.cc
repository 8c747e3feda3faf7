// SPDX-License-Identifier: Apache-2.0
//
// The same with a second comparison under the lock.
//
// truth: highest harmless: it only grows, under the lock; an old value only takes the lock without need, and a value that is stored later is greater still
#include <mutex>
#include <thread>

std::mutex mutex;
int highest = 0;

void offer(int number) {
  if (number <= highest) return;
  std::lock_guard guard(mutex);
  if (number > highest) highest = number;
}

int main() {
  std::thread threads[3] = {std::thread(offer, 3), std::thread(offer, 8), std::thread(offer, 5)};
  for (std::thread& thread : threads) thread.join();
  return highest == 8 ? 0 : 1;
}
