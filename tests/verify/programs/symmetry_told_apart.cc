// SPDX-License-Identifier: Apache-2.0
//
// Two threads are created alike, but main looks at what they do between their joins: they cannot be exchanged, and
// all interleavings are explored. In one of them main sees the work of the second one, too, and succeeds.
//
// EXPECT-VERIFY: 3 failure exit:1
// VERIFY-WITH: --symmetry: 3 failure exit:1
#include <atomic>
#include <thread>

std::atomic<int> done;

int main() {
  auto work = [] { ++done; };
  std::thread first(work), second(work);
  first.join();
  const int seen = done.load();
  second.join();
  return seen == 1 ? 1 : 0;
}
