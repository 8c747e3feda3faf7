// SPDX-License-Identifier: Apache-2.0
//
// Readers and writers: what a reader sees is whole.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex lock;
int low = 0, high = 0;

void write_both() {
  for (int i = 0; i < 2; ++i) {
    std::unique_lock guard(lock);
    ++low;
    ++high;
  }
}

void read_both() {
  for (int i = 0; i < 2; ++i) {
    std::shared_lock guard(lock);
    assert(low == high);
  }
}

int main() {
  std::thread a(write_both), b(write_both), c(read_both), d(read_both);
  for (std::thread* thread : {&a, &b, &c, &d}) thread->join();
  assert(low == 4);
}
