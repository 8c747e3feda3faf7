// SPDX-License-Identifier: Apache-2.0
#include <thread>
int counter;
int main() {
  std::thread other([] { ++counter; });
  ++counter;
  other.join();
}
