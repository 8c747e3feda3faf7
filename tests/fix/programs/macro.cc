// SPDX-License-Identifier: Apache-2.0
//
// The function that forgets the mutex is written by a macro: the change is named, but not made.
//
// FIX: hold
// FIX-REFUSED: macro
#include <mutex>
#include <thread>

std::mutex mutex;
int hits = 0;

#define DEFINE_SERVICE(name, variable) \
  void name() {                        \
    (variable) += 1;                   \
  }

DEFINE_SERVICE(serve_quickly, hits)

void serve() {
  std::lock_guard<std::mutex> guard(mutex);
  hits += 1;
}

int main() {
  std::thread other(serve);
  serve_quickly();
  other.join();
  return hits >= 1 ? 0 : 1;
}
