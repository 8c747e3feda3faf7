// SPDX-License-Identifier: Apache-2.0
//
// Crashes in a thread, whatever the schedule: the first run must find it, and its stack must begin in the
// program.
//
// EXPECT-FAILURE: signal:SIGSEGV
// WITHIN: 1
#include <thread>

int* volatile nowhere = nullptr;

void crash() {
  *nowhere = 1;
}

int main() {
  std::thread thread(crash);
  thread.join();
}
