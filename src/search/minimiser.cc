// SPDX-License-Identifier: Apache-2.0
#include "search/minimiser.h"

#include <utility>

namespace duress::search {

Attempt attempt_of(exec::Execution& execution, bool same) {
  Attempt attempt;
  attempt.same = same;
  attempt.switches = execution.record.switches;
  attempt.choices = execution.record.choices;
  attempt.strands = execution.record.strands;
  attempt.trail = std::move(execution.trail);
  return attempt;
}

Minimised Minimiser::run(const exec::Trail& failing) {
  auto replay = [&](const exec::Trail& candidate, Attempt* attempt) {
    std::optional<Attempt> result = replay_(candidate);
    if (result) *attempt = std::move(*result);
    return result.has_value();
  };
  trail::Minimiser<exec::Trail, decltype(replay)> minimiser(replay, most_runs_);
  bool confirmed = minimiser.run(failing);
  return {confirmed, confirmed && minimiser.complete(), confirmed ? minimiser.trail() : failing,
          minimiser.switches(), minimiser.runs()};
}

}  // namespace duress::search
