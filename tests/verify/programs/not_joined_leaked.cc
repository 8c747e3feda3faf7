// SPDX-License-Identifier: Apache-2.0
//
// A std::thread that nobody joins, because nobody destroys it.
//
// EXPECT-VERIFY: 1 failure not-joined
#include <thread>

int main() {
  new std::thread([] {});
}
