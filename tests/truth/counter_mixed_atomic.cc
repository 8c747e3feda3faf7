// SPDX-License-Identifier: Apache-2.0
//
// Workers increment through std::atomic_ref; the monitor reads the plain variable.
//
// truth: served harmless: the increments are atomic and exact; the monitor accepts any number up to the total
#include <atomic>
#include <thread>

int served = 0;

void serve() {
  for (int i = 0; i < 3; ++i) std::atomic_ref<int>(served).fetch_add(1);
}

int main() {
  std::thread first(serve), second(serve);
  int glance = served;
  first.join();
  second.join();
  return served == 6 && glance >= 0 && glance <= 6 ? 0 : 1;
}
