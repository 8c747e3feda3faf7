// SPDX-License-Identifier: Apache-2.0
//
// Waits for what nobody stores.
#include <atomic>

std::atomic<int> ready{0};

int main() {
  while (ready.load() == 0) {
  }
}
