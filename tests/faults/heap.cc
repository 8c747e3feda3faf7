// SPDX-License-Identifier: Apache-2.0
//
// Uses the heap in all ways that an allocator may do differently, and has one race on a block of it.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
static int* shared;
static void work(int* sum) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(std::string(static_cast<size_t>(i % 300), 'x'));
  void* aligned = nullptr;
  if (posix_memalign(&aligned, 256, 1000) != 0) std::abort();
  std::memset(aligned, 1, 1000);
  free(aligned);
  char* more = static_cast<char*>(std::malloc(10));
  for (size_t size = 10; size < 1u << 20; size *= 2) {
    more = static_cast<char*>(std::realloc(more, size));
    more[size - 1] = 1;
  }
  if (malloc_usable_size(more) < 1) std::abort();
  std::free(more);
  for (const std::string& text : texts) *sum += static_cast<int>(text.size());
  ++*shared;
}
int main() {
  shared = new int(0);
  int sums[4] = {};
  std::vector<std::thread> threads;
  for (int& sum : sums) threads.emplace_back(work, &sum);
  for (std::thread& thread : threads) thread.join();
  std::printf("%d\n", sums[0] + sums[1] + sums[2] + sums[3]);
  delete shared;
}
