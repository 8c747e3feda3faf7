// SPDX-License-Identifier: Apache-2.0
//
// latch, barrier, counting_semaphore, atomic wait and notify, jthread with a stop token: all used well.
//
// EXPECT-NO-FAILURE
// WITHIN: 200
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>

std::latch started{2};
std::barrier phase{2};
std::counting_semaphore<4> tokens{0};
std::atomic<int> word{0};
int halves[2] = {};

void work(int me) {
  started.arrive_and_wait();
  halves[me] = me + 1;
  phase.arrive_and_wait();
  assert(halves[0] + halves[1] == 3);
  phase.arrive_and_wait();
  tokens.release();
  if (me == 0) {
    word = 1;
    word.notify_all();
  } else {
    word.wait(0);
    assert(word == 1);
  }
}

int main() {
  std::jthread idle([](std::stop_token stop) {
    std::mutex lock;
    std::condition_variable_any never;
    std::unique_lock guard(lock);
    never.wait(guard, stop, [] { return false; });
  });
  std::thread first(work, 0), second(work, 1);
  tokens.acquire();
  tokens.acquire();
  first.join();
  second.join();
}
