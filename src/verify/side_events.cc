// SPDX-License-Identifier: Apache-2.0
//
// Side events: what executions report besides their steps (trail/told.h).
#include <algorithm>

#include "trail/told.h"
#include "verify/verifier.h"

namespace duress::verify {

void Verifier::take_side_events(const Outcome& outcome) {
  const std::vector<trail::Prediction>& told = outcome.execution.profile;
  for (std::size_t i = 0; i + trail::kToldEntries <= told.size(); i += trail::kToldEntries) {
    std::vector<finding::Address> calls;
    for (std::size_t k = 0; k < trail::kToldCalls; ++k) {
      if (u64 call = told[i + 1 + k / 2].value[k % 2]; call != 0) calls.push_back(call);
    }
    auto what = static_cast<trail::Told>(told[i].strand);
    if (what == trail::Told::kClock) {
      auto [it, is_new] = known_clocks_.try_emplace(calls, false);
      if (is_new) it->second = reads_clock_itself(outcome, calls);
      if (it->second) limits_ |= exhaustive::StepLog::kClock;
    } else if (what == trail::Told::kJoined) {
      take_join(outcome, {told[i].value[0], told[i].value[1], {}}, calls);
    }
  }
}

/// Where a thread really joins one that a what-if edit joins earlier, each place once.
void Verifier::take_join(const Outcome& outcome, JoinPlace join, const std::vector<finding::Address>& calls) {
  if (const finding::ProcessLog* process = outcome.logs.process()) {
    std::lock_guard guard(names_lock_);
    std::vector<finding::Frame> stack = names_.stack(*process, calls);
    if (!stack.empty()) join.place = stack[finding::blamed_frame(stack)];
  }
  bool known = std::any_of(result_.joins.begin(), result_.joins.end(), [&](const JoinPlace& other) {
    return other.joined == join.joined && other.joiner == join.joiner &&
           other.place.file == join.place.file && other.place.line == join.place.line;
  });
  if (!known) result_.joins.push_back(std::move(join));
}

/// Whether the program itself reads a clock, and not a function of the C++ library with a timeout
/// (std::condition_variable::wait_for): that one only finds out how a wait has ended, which is explored.
bool Verifier::reads_clock_itself(const Outcome& outcome, const std::vector<finding::Address>& calls) {
  const finding::ProcessLog* process = outcome.logs.process();
  if (process == nullptr) return true;
  std::lock_guard guard(names_lock_);
  for (const finding::Frame& frame : names_.stack(*process, calls)) {
    if (frame.file.empty()) continue;  // inside a library: the function that calls the system
    return frame.file.rfind("/usr/", 0) != 0;
  }
  return true;
}

}  // namespace duress::verify
