// SPDX-License-Identifier: Apache-2.0
//
// Three counters in one function; only one of them has to be right.
//
// truth: sold destructive exit:1: a lost update
// truth: asked harmless beside sold: nothing reads it
// truth: refused harmless beside sold: nothing reads it
#include <thread>

int asked = 0, sold = 0, refused = 0;

void customer() {
  ++asked;
  ++sold;
  ++refused;
}

int main() {
  std::thread first(customer), second(customer);
  first.join();
  second.join();
  return sold == 2 ? 0 : 1;
}
