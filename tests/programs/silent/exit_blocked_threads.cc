// SPDX-License-Identifier: Apache-2.0
//
// main leaves while threads wait for what never comes: the end of the program does not wait for them.
//
// EXPECT-NO-RACE
// EXPECT-EXIT: 3
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

// Never destroyed: threads still wait.
std::mutex& mutex = *new std::mutex;
std::condition_variable& condition = *new std::condition_variable;
int waiting;

int main() {
  for (int t = 0; t < 3; t++)
    std::thread([] {
      std::unique_lock lock(mutex);
      waiting++;
      condition.notify_all();
      condition.wait(lock, [] { return waiting < 0; });
    }).detach();
  std::unique_lock lock(mutex);
  condition.wait(lock, [] { return waiting == 3; });
  lock.unlock();
  std::exit(3);
}
