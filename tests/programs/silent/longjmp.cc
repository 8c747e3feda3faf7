// SPDX-License-Identifier: Apache-2.0
//
// longjmp over instrumented frames many times: the call stack kept for reports must follow.
//
// EXPECT-NO-RACE
#include <csetjmp>
#include <thread>

int jumps[2];

__attribute__((noinline)) void deep(std::jmp_buf& back, int depth, int* count) {
  if (depth == 0) {
    ++*count;
    std::longjmp(back, 1);
  }
  deep(back, depth - 1, count);
  ++*count;
}

void work(int* count) {
  for (volatile int i = 0; i < 20000; i = i + 1) {
    std::jmp_buf back;
    if (setjmp(back) == 0) deep(back, 10, count);
  }
}

int main() {
  std::thread first(work, &jumps[0]), second(work, &jumps[1]);
  first.join();
  second.join();
  return jumps[0] == 20000 && jumps[1] == 20000 ? 0 : 1;
}
