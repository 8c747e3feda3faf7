// SPDX-License-Identifier: Apache-2.0
//
// The part of Explorer for strands that are alike: the same code with the same argument, created one after
// the other. Exchanging two of them turns an execution into another one of the program, its *image*, with the
// same findings. Of such executions one is enough.
//
// Two alike strands that have performed no step in a prefix can be exchanged in what follows, and the prefix
// stays as it is. So a branch of which some image is covered by another branch there, explored before or
// pending, need not be added. The other one comes first in the order of the exploration, and so does whatever
// covers its own branches: there is always an execution at the end that was explored.
#include "exhaustive/explorer.h"

namespace duress::exhaustive {

namespace {

bool has_step(const Explorer::Node* at, u32 strand) {
  for (; at->parent; at = at->parent) {
    if (at->step.strand == strand) return true;
  }
  return false;
}

/// The same first step of two alike strands. What it did must not name strands.
bool is_same(const Step& a, const Step& b) {
  if (a.kind != b.kind || a.touches != b.touches || a.value || b.value || a.choices || b.choices)
    return false;
  for (u32 i = 0; i < a.touches; ++i) {
    if (a.touch[i].object != b.touch[i].object || a.touch[i].size != b.touch[i].size) return false;
  }
  return true;
}

}  // namespace

/// Whether the node's step, a first one, is a weak initial of the branch if its strand is exchanged with
/// `other`: see weakly_initial().
bool Explorer::weakly_initial_of_image(const Step& step, u32 other) {
  for (u32 k = 0; k < wanted_.size(); ++k) {
    const Step& wanted = wanted_step(k);
    if (wanted.strand == other) return is_same(step, wanted) && !has_predecessor(k);
  }
  for (u32 k = 0; k < wanted_.size(); ++k) {
    if (conflict(step, wanted_step(k))) return false;
  }
  return true;
}

/// Whether an image of the branch that is wanted at `at` is covered by `node`, which is a child of `at`, or
/// sleeps there.
bool Explorer::covers_image(const Node& node, const Node* at) {
  const Step& step = node.step;
  const u8 kind = alike_ ? alike_[step.strand] : 0;
  if (!kind || step.value || step.choices || has_step(at, step.strand)) return false;
  for (u32 other = 1; other < kMostStrands; ++other) {
    if (other != step.strand && alike_[other] == kind && !has_step(at, other) &&
        weakly_initial_of_image(step, other))
      return true;
  }
  return false;
}

}  // namespace duress::exhaustive
