// SPDX-License-Identifier: Apache-2.0
//
// A plain variable that is stored and loaded by two threads, in no order.
#include <thread>

int flag, seen;

void store() {
  flag = 1;
}
void load() {
  seen = flag;
}

int main() {
  std::thread first(store), second(load);
  first.join();
  second.join();
}
