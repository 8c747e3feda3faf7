// SPDX-License-Identifier: Apache-2.0
//
// Two bit fields in one word, each set by a thread of its own.
//
// truth: Flags::*|Flags destructive exit:1: adjacent bit fields are one memory location; one store undoes the other
#include <thread>

struct Flags {
  unsigned opened : 1;
  unsigned closed : 1;
};

Flags flags{};

int main() {
  std::thread opener([] { flags.opened = 1; });
  std::thread closer([] { flags.closed = 1; });
  opener.join();
  closer.join();
  return flags.opened && flags.closed ? 0 : 1;
}
