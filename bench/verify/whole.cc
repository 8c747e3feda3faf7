// SPDX-License-Identifier: Apache-2.0
//
// Three of the families as whole programs, for `duress verify`: `whole NAME N`.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

using Threads = std::vector<std::thread>;

void join(Threads& all) {
  for (std::thread& t : all) t.join();
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
  int n = atoi(argv[2]);
  if (strcmp(argv[1], "readers") == 0) readers(n);
  if (strcmp(argv[1], "lastzero") == 0) last_zero(n);
  if (strcmp(argv[1], "indexer") == 0) indexer(n);
}
