// SPDX-License-Identifier: Apache-2.0
//
// Accesses of a loop whose addresses move by the same number of bytes each iteration, and which of them
// together cover memory without gaps or at equal distances.
#pragma once

#include <string>
#include <vector>

#include "llvm/Analysis/ScalarEvolution.h"
#include "pass/check_plan.h"

namespace duress::pass {

/// One access that moves by the same number of bytes each iteration.
struct MovingAccess {
  Check* check;
  int64_t offset;  // of its first address, from the group's
  std::string variable;
};

/// Accesses that move by the same step from addresses a known distance apart.
struct Group {
  const llvm::SCEV* start;
  int64_t step;
  bool every_iteration;  // also in the last, partial iteration of a loop that leaves in its middle
  std::vector<MovingAccess> accesses;
};

/// Adjacent accesses: each iteration covers [begin, end).
struct Chunk {
  int64_t begin;
  int64_t end;
  std::vector<MovingAccess*> accesses;
};

/// Accesses that visit one row of equally spaced places: the copies that unrolling makes of one access, or
/// a[i - 1] and a[i + 1] where i grows by two. One that nothing fits is a row by itself.
struct Row {
  int64_t spacing;
  std::vector<MovingAccess*> accesses;  // by offset
};

/// Joins neighbours that together leave no gap. Different variables, and lines where not needed, stay apart
/// so that a report names the right one.
std::vector<Chunk> chunks(Group& group, bool write);

/// The rows of the writes, or of the reads, that still have a check.
std::vector<Row> rows(Group& group, bool write);

}  // namespace duress::pass
