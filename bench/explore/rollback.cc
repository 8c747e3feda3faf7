// SPDX-License-Identifier: Apache-2.0
//
// A whole program: 50 schedule points in N threads, and M megabytes written. Without threads the points are
// main's. The environment variable HEAP names megabytes that are written before main already, of which main
// then writes M. With QUIET in the environment nothing is printed.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

static char* make_heap() {
  const char* text = getenv("HEAP");
  size_t bytes = text ? strtoul(text, nullptr, 10) << 20 : 0;
  return bytes ? static_cast<char*>(memset(malloc(bytes), 1, bytes)) : nullptr;
}
static char* const heap = make_heap();

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  size_t megabytes = argc > 2 ? strtoul(argv[2], nullptr, 10) : 0;
  static std::atomic<int> sum{0};
  auto work = [=] {
    for (int i = 0; i < 50 / (threads ? threads : 1); ++i) sum.fetch_add(1);
  };
  if (megabytes) memset(heap ? heap : malloc(megabytes << 20), 2, megabytes << 20);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work);
  for (std::thread& t : all) t.join();
  if (!threads) work();
  if (!getenv("QUIET")) printf("%d\n", sum.load());
  return 0;
}
