// SPDX-License-Identifier: Apache-2.0
#include "verify/alike.h"

#include <map>
#include <utility>

namespace duress::verify {

using exhaustive::Step;

Alike alike_strands(const std::vector<exhaustive::StepLog::Origin>& origins) {
  Alike alike = {};
  for (std::size_t i = 1; i < origins.size() && i < alike.size(); ++i) {
    if (origins[i].like == 0) continue;
    for (std::size_t k = 1; k < i; ++k) {
      if (origins[k].parent != origins[i].parent || origins[k].ordinal != origins[i].like) continue;
      if (alike[k] == 0) alike[k] = static_cast<u8>(k);
      alike[i] = alike[k];
    }
  }
  return alike;
}

bool joins_apart(const std::vector<Step>& steps, const Alike& alike) {
  std::array<std::size_t, exhaustive::kMostStrands> last = {};  // by strand: its last step
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].is(Step::kAfter) && !steps[i].is(Step::kPending)) last[steps[i].strand] = i;
  }
  // By joiner and kind: where the first of them was joined.
  std::map<std::pair<u8, u8>, std::size_t> joined;
  std::array<std::size_t, exhaustive::kMostStrands> stepped = {};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.is(Step::kPending)) continue;
    if (!step.is(Step::kAfter)) {
      stepped[step.strand] = i;
      continue;
    }
    // After a strand that performs no more steps: it was joined, or was the last to give a signal.
    if (alike[step.other] == 0 || last[step.other] > i) continue;
    auto [first, is_first] = joined.try_emplace({step.strand, alike[step.other]}, i);
    if (!is_first && stepped[step.strand] > first->second) return true;
  }
  return false;
}

}  // namespace duress::verify
