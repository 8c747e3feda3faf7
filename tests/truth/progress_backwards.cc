// SPDX-License-Identifier: Apache-2.0
//
// A display that must never go backwards.
//
// truth: position destructive exit:1: two racing loads are not ordered, so the second may return an older value than the first
#include <thread>

int position = 0;

int main() {
  std::thread worker([] {
    for (int i = 1; i <= 4; ++i) position = i;
  });
  bool forwards = true;
  int last = 0;
  for (int i = 0; i < 4; ++i) {
    int seen = position;
    forwards = forwards && seen >= last;
    last = seen;
  }
  worker.join();
  return forwards ? 0 : 1;
}
