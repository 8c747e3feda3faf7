// SPDX-License-Identifier: Apache-2.0
//
// Workers sort pieces from a common list. A worker that splits a piece counts the new ones after it has shown
// them, so another one can bring the count to zero and all go home too early; or before, which is right.
//
// BUG quicksort_2: -DWORKERS=2
// BUG quicksort_3: -DWORKERS=3
// CORRECT quicksort_right: -DWORKERS=2 -DCOUNTED_FIRST
#include <utility>

#include "parallel.h"

static constexpr int kSize = 8;
static int data[kSize] = {5, 3, 8, 1, 7, 2, 6, 4};
static std::mutex mutex;
static std::vector<std::pair<int, int>> pieces = {{0, kSize}};
static int open = 1;  // pieces that are not done; a plain variable that the end test reads without the lock

static bool next_piece(std::pair<int, int>* piece) {
  Guard guard(mutex);
  if (pieces.empty()) return false;
  *piece = pieces.back();
  pieces.pop_back();
  return true;
}

static void split(int from, int to) {
  int pivot = data[from], middle = from;
  for (int i = from + 1; i < to; ++i) {
    if (data[i] < pivot) std::swap(data[i], data[++middle]);
  }
  std::swap(data[from], data[middle]);
  {
    Guard guard(mutex);
    pieces.push_back({from, middle});
    pieces.push_back({middle + 1, to});
#ifdef COUNTED_FIRST
    open += 1;
  }
#else
  }
  open += 1;  // two more, and this one is done
#endif
}

static void work() {
  for (;;) {
    std::pair<int, int> piece;
    if (!next_piece(&piece)) {
      Guard guard(mutex);
      if (open <= 0) return;
      continue;
    }
    if (piece.second - piece.first > 1) {
      split(piece.first, piece.second);
    } else {
      Guard guard(mutex);
      --open;
    }
  }
}

int main() {
  in_parallel_each(WORKERS, [](int) { work(); });
  for (int i = 0; i < kSize; ++i) assert(data[i] == i + 1);
}
