// SPDX-License-Identifier: Apache-2.0
//
// A plain flag skips std::call_once: what was initialised is then read without an order.
//
// truth: done destructive exit:1: seen true, the call that would synchronise is skipped
// truth: value destructive exit:1: the thread that skipped the call may see the old value
#include <mutex>
#include <thread>

std::once_flag once;
bool done = false;
int value = 0;

int get() {
  if (!done) {
    std::call_once(once, [] {
      value = 11;
      done = true;
    });
  }
  return value;
}

int main() {
  int a = 0, b = 0;
  std::thread first([&a] { a = get(); });
  std::thread second([&b] { b = get(); });
  first.join();
  second.join();
  return a == 11 && b == 11 ? 0 : 1;
}
