// SPDX-License-Identifier: Apache-2.0
//
// Depth 3: a reader must see step 1, then the writer must go on to step 2, then the reader must look again. A
// thread that looks twice believes that nothing happens in between.
//
// EXPECT-FAILURE: assertion
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> step{0};

int main() {
  std::thread writer([] {
    step = 1;
    step = 2;
  });
  std::thread reader([] {
    int first = step, second = step;
    assert(!(first == 1 && second == 2));
  });
  writer.join();
  reader.join();
}
