// SPDX-License-Identifier: Apache-2.0
//
// An exponential moving average of samples between 0 and 1, kept without a lock.
//
// truth: load harmless: whatever values are read, the result is a mean of numbers between 0 and 1
#include <thread>

double load = 0.5;

void sample(double value) {
  for (int i = 0; i < 3; ++i) load = load * 0.75 + value * 0.25;
}

int main() {
  std::thread idle(sample, 0.0), busy(sample, 1.0);
  idle.join();
  busy.join();
  return load >= 0 && load <= 1 ? 0 : 1;
}
