// SPDX-License-Identifier: Apache-2.0
//
// Interleavings explored, and how many a second of processor time, for the parametric families: ordinary
// std::thread and std::atomic code. `families NAME N [M]` prints one line: name, executions, seconds, rate.
#include <duress/test.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

namespace {

using Threads = std::vector<std::thread>;

void join(Threads& all) {
  for (std::thread& t : all) t.join();
}

/// n threads with m updates of one variable each: the multinomial coefficient.
void rmw(int n, int m) {
  std::atomic<int> x{0};
  Threads all;
  for (int i = 0; i < n; ++i) {
    all.emplace_back([&] {
      for (int k = 0; k < m; ++k) x.fetch_add(1);
    });
  }
  join(all);
}

/// One writer and n readers: 2^n.
void readers(int n) {
  std::atomic<int> x{0};
  Threads all;
  all.emplace_back([&] { x.store(1); });
  for (int i = 0; i < n; ++i) all.emplace_back([&] { (void)x.load(); });
  join(all);
}

/// Thread j does a[j] = a[j-1] + 1; one more scans down from a[n] to the first zero.
void last_zero(int n) {
  std::unique_ptr<std::atomic<int>[]> a(new std::atomic<int>[n + 1]());
  Threads all;
  all.emplace_back([&] {
    int i = n;
    while (a[i].load() != 0) --i;
  });
  for (int j = 1; j <= n; ++j) all.emplace_back([&a, j] { a[j].store(a[j - 1].load() + 1); });
  join(all);
}

/// Each thread puts four numbers into a table of 128 slots, probing on while a slot is taken.
void indexer(int n) {
  std::unique_ptr<std::atomic<int>[]> table(new std::atomic<int>[128]());
  Threads all;
  for (int t = 0; t < n; ++t) {
    all.emplace_back([&table, t] {
      for (int m = 1; m <= 4; ++m) {
        int w = 11 * m + t, at = 7 * w % 128;
        for (int empty = 0; !table[at].compare_exchange_strong(empty, w); empty = 0) at = (at + 1) % 128;
      }
    });
  }
  join(all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* name = argv[1];
  int n = atoi(argv[2]), m = argc > 3 ? atoi(argv[3]) : 0;
  duress::CheckOptions options;
  options.exhaustive = true;
  double start = static_cast<double>(clock());
  auto result = duress::check(
      [=] {
        if (strcmp(name, "rmw") == 0) return rmw(n, m);
        if (strcmp(name, "readers") == 0) return readers(n);
        if (strcmp(name, "lastzero") == 0) return last_zero(n);
        indexer(n);
      },
      options);
  double seconds = (static_cast<double>(clock()) - start) / CLOCKS_PER_SEC;
  printf("%s %llu %.3f %.0f\n", name, static_cast<unsigned long long>(result.executions), seconds,
         static_cast<double>(result.executions) / seconds);
  return result.passed && result.complete ? 0 : 1;
}
