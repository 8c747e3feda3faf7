// SPDX-License-Identifier: Apache-2.0
//
// Two fibers on one thread, announced to ThreadSanitizer. A switch that orders nothing leaves their accesses
// unordered; one that orders, as switches do unless told otherwise, does not.
//
// WRONG: counter
#include <sanitizer/tsan_interface.h>
#include <ucontext.h>

#ifdef WRONG
constexpr unsigned kFlags = __tsan_switch_to_fiber_no_sync;
#else
constexpr unsigned kFlags = 0;
#endif

int counter;
ucontext_t main_context, fiber_context;
void *main_fiber, *other_fiber;
char stack[1 << 16];

void in_fiber() {
  for (;;) {
    ++counter;
    __tsan_switch_to_fiber(main_fiber, kFlags);
    swapcontext(&fiber_context, &main_context);
  }
}

int main() {
  main_fiber = __tsan_get_current_fiber();
  other_fiber = __tsan_create_fiber(0);
  getcontext(&fiber_context);
  fiber_context.uc_stack = {stack, 0, sizeof stack};
  makecontext(&fiber_context, in_fiber, 0);
  for (int round = 0; round < 3; ++round) {
    ++counter;
    __tsan_switch_to_fiber(other_fiber, kFlags);
    swapcontext(&main_context, &fiber_context);
  }
  __tsan_destroy_fiber(other_fiber);
  return counter == 6 ? 0 : 1;
}
