// SPDX-License-Identifier: Apache-2.0
//
// A local variable that lambdas capture by reference, and lose an update of.
#include <thread>

int main() {
  int sum = 0;
  auto work = [&] { sum += 1; };
  std::thread first(work), second(work);
  first.join();
  second.join();
  return sum == 2 ? 0 : 1;
}
