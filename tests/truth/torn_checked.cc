// SPDX-License-Identifier: Apache-2.0
//
// A number and its complement in two words: a reader that sees a mixture throws it away.
//
// truth: Sample::value harmless: a value that does not match its complement is not used; one that does was stored as a whole
// truth: Sample::complement harmless: as Sample::value
#include <thread>

struct Sample {
  unsigned value = 0, complement = ~0u;
};

Sample sample;

int main() {
  bool valid = true;
  std::thread sensor([] {
    for (unsigned i = 1; i < 4; ++i) {
      sample.value = i;
      sample.complement = ~i;
    }
  });
  std::thread display([&valid] {
    for (int i = 0; i < 3; ++i) {
      unsigned value = sample.value, complement = sample.complement;
      if (value == ~complement) valid = valid && value < 4;
    }
  });
  sensor.join();
  display.join();
  return valid ? 0 : 1;
}
