// SPDX-License-Identifier: Apache-2.0
//
// Side events: what executions report besides their steps (trail/side_events.h).
#include <algorithm>

#include "finding/text.h"
#include "verify/verifier.h"

namespace duress::verify {
namespace {

std::vector<finding::Address> calls_of(const trail::SideEvent& event) {
  return {event.calls, std::find(event.calls, std::end(event.calls), 0)};
}

}  // namespace

void Verifier::take_side_events(const Outcome& outcome) {
  for (const trail::SideEvent& event : outcome.execution.side_events) {
    const std::vector<finding::Address> calls = calls_of(event);
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
      case trail::SideEvent::Kind::kLimited:  // of every execution: take_limits
        break;
    }
  }
}

/// What the execution did not explore, and where it came to that.
void Verifier::take_limits(const Outcome& outcome) {
  using Log = exhaustive::StepLog;
  limits_ |=
      outcome.execution.limits & ~(Log::kIllegal | Log::kAwaitBlocked | Log::kNotExplored | Log::kPlainRead);
  for (const trail::SideEvent& event : outcome.execution.side_events) {
    if (event.kind != trail::SideEvent::Kind::kLimited) continue;
    for (u32 limit = 1; limit <= Log::kLast; limit <<= 1) {
      if ((event.limits & limit) != 0 && limited_at_.count(limit) == 0)
        limited_at_[limit] = limit_place(outcome, event);
    }
  }
}

/// ", first at main.cc:12, on x": the line of the program, and the variable if it has a name.
std::string Verifier::limit_place(const Outcome& outcome, const trail::SideEvent& event) {
  const finding::ProcessLog* process = outcome.logs.process();
  if (process == nullptr) return {};
  std::lock_guard guard(names_lock_);
  std::string place;
  if (const std::vector<finding::Frame> stack = names_.stack(*process, calls_of(event)); !stack.empty()) {
    const finding::Frame& frame = stack[finding::blamed_frame(stack)];
    if (!frame.file.empty()) place = finding::base_name(frame.file) + ":" + std::to_string(frame.line);
  }
  if (place.empty()) return {};
  std::string variable = event.object != 0 ? names_.object(*process, event.object) : "";
  // "M2" is a number for what has no name.
  const bool unnamed = variable.size() > 1 && variable[0] == 'M' &&
                       variable.find_first_not_of("0123456789", 1) == std::string::npos;
  return ", first at " + place + (variable.empty() || unnamed ? "" : ", on " + variable);
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
