// SPDX-License-Identifier: Apache-2.0
//
// A block is freed by one thread and read by another, in some order.
#include <thread>

int main() {
  int* value = new int(1);
  std::thread owner([value] { delete value; });
  int seen = *value;
  owner.join();
  return seen == 1 ? 0 : 1;
}
