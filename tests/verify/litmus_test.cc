// SPDX-License-Identifier: Apache-2.0
//
// Litmus tests under sequential consistency: of each the exact number of interleavings up to equivalence and
// the exact set of outcomes. The numbers follow from the shapes: one class for each way in which the pairs
// that conflict can be ordered without a cycle.
#include <duress/test.h>
#include <stdlib.h>

#include <atomic>
#include <thread>

#include "small_test.h"

namespace {

/// Threads are separated by '|'. Wx1 stores 1 to x; Rx loads it; Ux2 adds 2 to it; F is a fence.
struct Litmus {
  const char* name;
  const char* program;
  unsigned interleavings;
  /// What the loads and updates saw, in the order of the text, then x and y at the end.
  const char* outcomes;
};

constexpr Litmus kTable[] = {
    {"store buffering (Dekker)", "Wx1 Ry|Wy1 Rx", 3, "01/11 10/11 11/11"},
    {"store buffering with fences", "Wx1 F Ry|Wy1 F Rx", 3, "01/11 10/11 11/11"},
    {"message passing", "Wx1 Wy1|Ry Rx", 3, "00/11 01/11 11/11"},
    {"message passing with fences", "Wx1 F Wy1|Ry F Rx", 3, "00/11 01/11 11/11"},
    {"load buffering", "Rx Wy1|Ry Wx1", 3, "00/11 01/11 10/11"},
    {"independent reads of independent writes", "Wx1|Wy1|Rx Ry|Ry Rx", 15,
     "0000/11 0001/11 0010/11 0011/11 0100/11 0101/11 0110/11 0111/11 1000/11 1001/11 1011/11 1100/11 "
     "1101/11 "
     "1110/11 1111/11"},
    {"2+2W", "Wx1 Wy2|Wy1 Wx2", 3, "/12 /21 /22"},
    {"CoRR", "Wx1 Wx2|Rx Rx", 6, "00/20 01/20 02/20 11/20 12/20 22/20"},
    {"CoRR, two writers", "Wx1|Wx2|Rx Rx", 12,
     "00/10 00/20 01/10 01/20 02/10 02/20 11/10 11/20 12/20 21/10 22/10 22/20"},
    {"write to read causality", "Wx1|Rx Wy1|Ry Rx", 7, "000/11 001/11 010/11 011/11 100/11 101/11 111/11"},
    // One class more than outcomes: the reader's 2 is the update's or the second store's.
    {"release sequence", "Wx1 Wy1 Wy2|Uy2|Ry Rx", 16,
     "000/12 001/12 011/12 020/12 021/12 100/12 101/12 111/12 121/12 131/12 200/14 201/14 211/14 221/14 "
     "241/14"},
    {"S", "Wx2 Wy1|Ry Wx1", 3, "0/11 0/21 1/11"},
    {"R", "Wx1 Wy1|Wy2 Rx", 3, "0/11 1/11 1/12"},
    {"rmw", "Ux1 Ux1|Ux1", 3, "012/30 021/30 120/30"},
};

std::atomic<int> memory[2];
int seen[8];
const char* program;

void run_thread(const char* text, int* out) {
  for (; *text && *text != '|'; ++text) {
    if (*text == 'F') std::atomic_thread_fence(std::memory_order_seq_cst);
    if (*text == 'F' || *text == ' ') continue;
    char kind = *text++;
    std::atomic<int>& place = memory[*text - 'x'];
    if (kind == 'R') *out++ = place.load();
    if (kind == 'W') place.store(*++text - '0');
    if (kind == 'U') *out++ = place.fetch_add(*++text - '0');
  }
}

void run_program() {
  memory[0] = memory[1] = 0;
  std::thread threads[4];
  int count = 0, out = 0;
  for (const char* at = program; at; at = strchr(at, '|'), at = at ? at + 1 : at) {
    threads[count++] = std::thread(run_thread, at, &seen[out]);
    for (const char* c = at; *c && *c != '|'; ++c) out += *c == 'R' || *c == 'U';
  }
  for (int i = 0; i < count; ++i) threads[i].join();
}

constexpr int kMost = 64;
char found[kMost][16];
int found_count;

void note_outcome() {
  char text[16];
  int n = 0;
  for (const char* c = program; *c; ++c) {
    if (*c == 'R' || *c == 'U') text[n] = static_cast<char>('0' + seen[n]), ++n;
  }
  text[n++] = '/';
  for (std::atomic<int>& value : memory) text[n++] = static_cast<char>('0' + value.load());
  text[n] = 0;
  for (int i = 0; i < found_count; ++i) {
    if (strcmp(found[i], text) == 0) return;
  }
  if (found_count < kMost) strcpy(found[found_count++], text);
}

TEST(Litmus, SequentiallyConsistent) {
  for (const Litmus& litmus : kTable) {
    program = litmus.program;
    found_count = 0;
    duress::CheckOptions options;
    options.exhaustive = options.quiet = true;
    int before = small_test::failed;
    duress::CheckResult result = duress::check(
        [] {
          run_program();
          note_outcome();
        },
        options);
    EXPECT_TRUE(result.passed && result.complete);
    EXPECT_EQ(result.executions, litmus.interleavings);
    int wanted = 0;
    for (const char* at = litmus.outcomes; *at; ++wanted) {
      size_t length = strcspn(at, " ");
      bool there = false;
      for (int i = 0; i < found_count; ++i)
        there |= strlen(found[i]) == length && memcmp(found[i], at, length) == 0;
      EXPECT_TRUE(there);
      at += length + (at[length] == ' ');
    }
    EXPECT_EQ(found_count, wanted);
    if (small_test::failed == before) continue;
    printf("in %s, which has the outcomes", litmus.name);
    for (int i = 0; i < found_count; ++i) printf(" %s", found[i]);
    printf("\n");
  }
}

}  // namespace

int main(int count, char** suites) {
  return small_test::run(count, suites);
}
