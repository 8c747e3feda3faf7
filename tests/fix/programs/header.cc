// SPDX-License-Identifier: Apache-2.0
//
// The bug is in a header.
//
// FIX: hold
#include <thread>

#include "stock.h"

int main() {
  Stock stock;
  std::thread other([&] { stock.add(3); });
  int seen = stock.count();
  other.join();
  return seen == 0 || seen == 3 ? 0 : 1;
}
