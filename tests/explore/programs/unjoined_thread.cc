// SPDX-License-Identifier: Apache-2.0
//
// A thread that nobody joins uses what main has taken away just before it returns: the end of main is a choice
// like any other.
//
// EXPECT-FAILURE: assertion
// SUITE: fast
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<bool> closed = false;

int main() {
  std::thread([] { assert(!closed.load()); }).detach();
  closed.store(true);
}
