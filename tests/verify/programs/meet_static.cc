// SPDX-License-Identifier: Apache-2.0
//
// A static of a function: either thread initialises it, and both see it.
//
// EXPECT-VERIFY: * none
// VERIFY-RC11: =
#include <thread>

struct Config {
  int value;
  Config() : value(5) {}
};

Config& config() {
  static Config once;
  return once;
}

int main() {
  int seen = 0;
  std::thread other([&] { seen = config().value; });
  int here = config().value;
  other.join();
  return seen == 5 && here == 5 ? 0 : 1;
}
