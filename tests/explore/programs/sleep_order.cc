// SPDX-License-Identifier: Apache-2.0
//
// A sleep in the place of synchronisation: a tenth of a second is usually enough for the other thread, and
// nothing says that it is.
//
// EXPECT-FAILURE: assertion
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

std::atomic<int> answer{0};

int main() {
  std::thread thinker([] { answer = 42; });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  assert(answer == 42);
  thinker.join();
}
