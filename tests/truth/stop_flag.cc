// SPDX-License-Identifier: Apache-2.0
//
// A worker runs until a plain flag says stop.
//
// truth: stop destructive no-end|livelock: nothing in the loop orders the load; a compiler reads the flag once
#include <thread>

bool stop = false;
long rounds = 0;

int main() {
  std::thread worker([] {
    while (!stop) ++rounds;
  });
  stop = true;
  worker.join();
  return 0;
}
