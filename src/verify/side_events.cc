// SPDX-License-Identifier: Apache-2.0
//
// Side events: what executions report besides their steps (trail/side_events.h).
#include <algorithm>

#include "verify/verifier.h"

namespace duress::verify {

void Verifier::take_side_events(const Outcome& outcome) {
  for (const trail::SideEvent& event : outcome.execution.side_events) {
    std::vector<finding::Address> calls;
    for (u64 call : event.calls) {
      if (call != 0) calls.push_back(call);
    }
    switch (event.kind) {
      case trail::SideEvent::Kind::kClockRead: {
        auto [it, is_new] = known_clocks_.try_emplace(calls, false);
        if (is_new) it->second = reads_clock_itself(outcome, calls);
        if (it->second) limits_ |= exhaustive::StepLog::kClock;
        break;
      }
      case trail::SideEvent::Kind::kJoined:
        take_join(outcome, {event.joined, event.joiner, {}}, calls);
        break;
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
