// SPDX-License-Identifier: Apache-2.0
//
// Busy waiting of every kind, all of which ends if the others get to run: an empty loop, yield, sleep,
// try_lock, a wait with a time limit.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

std::atomic<int> stage{0};
std::mutex busy;
std::mutex lock;
std::condition_variable changed;

int main() {
  std::thread spinner([] {
    while (stage < 1) {
    }
    stage = 2;
  });
  std::thread yielder([] {
    while (stage < 2) sched_yield();
    stage = 3;
  });
  std::thread sleeper([] {
    while (stage < 3) usleep(1000);
    stage = 4;
  });
  std::thread waiter([] {
    std::unique_lock guard(lock);
    while (stage < 4) changed.wait_for(guard, 10ms);
    stage = 5;
  });
  busy.lock();
  std::thread trier([] {
    while (!busy.try_lock()) std::this_thread::yield();
    busy.unlock();
  });
  stage = 1;
  while (stage < 5) {
  }
  busy.unlock();
  for (std::thread* thread : {&spinner, &yielder, &sleeper, &waiter, &trier}) thread->join();
}
