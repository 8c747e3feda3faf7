// SPDX-License-Identifier: Apache-2.0
//
// Fibers by swapcontext, begun on one thread and continued on another that a mutex has ordered after it. Fibers
// that move between threads are announced as ThreadSanitizer wants it.
//
// EXPECT-NO-RACE
// OTHER-TOOLS: differ (they have no such functions)
#include <ucontext.h>

#include <condition_variable>
#include <mutex>
#include <thread>

extern "C" {
void* __tsan_get_current_fiber() __attribute__((weak));
void* __tsan_create_fiber(unsigned flags) __attribute__((weak));
void __tsan_switch_to_fiber(void* fiber, unsigned flags) __attribute__((weak));
void __tsan_destroy_fiber(void* fiber) __attribute__((weak));
}

struct Fiber {
  ucontext_t own, caller;
  void *announced, *announced_caller;
  int sum = 0;
  alignas(16) char stack[1 << 16];

  void begin();
  void run() {
    announced_caller = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(announced, 0);
    swapcontext(&caller, &own);
  }
  void leave() {
    __tsan_switch_to_fiber(announced_caller, 0);
    swapcontext(&own, &caller);
  }
};

Fiber fibers[2];
thread_local Fiber* current;
std::mutex mutex;
std::condition_variable changed;
int turn = 0;

void body() {
  Fiber* fiber = current;
  for (int i = 1;; ++i) {
    fiber->sum += i;
    fiber->leave();
  }
}

void Fiber::begin() {
  getcontext(&own);
  own.uc_stack = {stack, 0, sizeof stack};
  own.uc_link = nullptr;
  makecontext(&own, body, 0);
  announced = __tsan_create_fiber(0);
}

/// Each thread runs both fibers in its turns.
void work(int me) {
  for (int round = 0; round < 4; ++round) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [me] { return turn % 2 == me; });
    for (Fiber& fiber : fibers) {
      current = &fiber;
      fiber.run();
    }
    ++turn;
    changed.notify_all();
  }
}

int main() {
  for (Fiber& fiber : fibers) fiber.begin();
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
  for (Fiber& fiber : fibers) __tsan_destroy_fiber(fiber.announced);
  return fibers[0].sum == 36 && fibers[1].sum == 36 ? 0 : 1;
}
