// SPDX-License-Identifier: Apache-2.0
//
// main returns while a thread that nobody joins has not run yet.
//
// EXPECT-RACE: counter write-write @main @thread
// SUITE: fast
#include <thread>

int counter;

int main() {
  std::thread([] {
    counter++;  // @thread
  }).detach();
  counter++;  // @main
}
