// SPDX-License-Identifier: Apache-2.0
//
// Why an exploration is not complete, in words. Shared by `duress verify` and duress::check, so that the same
// limit reads the same in both.
#pragma once

#include "exhaustive/step_log.h"

namespace duress::exhaustive {

enum class Explored : u8 { kProgram, kClosure };

struct LimitText {
  u32 limit;
  const char* program;  // null: reported in another way
  const char* closure;
};

#define DURESS_SAME(text) text, text
#define DURESS_SUBJECT(text) "the program " text, "the closure " text
/// The most severe first. StepLog::kIllegal and kAwaitBlocked discard an execution and limit nothing.
inline constexpr LimitText kLimitTexts[] = {
    {StepLog::kTooManySteps,
     DURESS_SAME("an execution has more than 50,000 steps: what comes after them is not explored")},
    {StepLog::kTooManyStrands, DURESS_SAME("there are more than 64 threads")},
    {StepLog::kEndedEarly,
     DURESS_SAME("an execution ended while other threads could go on: what they would have done is not "
                 "explored")},
    {StepLog::kLongRun,
     DURESS_SAME(
         "a thread performed 2,000 steps while others waited, as in a loop that waits and writes in each "
         "round: longer runs are not explored")},
    {StepLog::kSpinning,
     DURESS_SAME("a loop went round 200 times with nothing changed but its own counters")},
    {StepLog::kTimers, "timeouts come only when nothing else can happen (--timeouts explores most)",
     "timeouts come only when nothing else can happen"},
    {StepLog::kClock, DURESS_SUBJECT("looks at a clock")},
    {StepLog::kDescriptors, DURESS_SUBJECT("waits for a file, a pipe or a socket")},
    {StepLog::kFutex, DURESS_SAME("a futex wakes some of those who wait, and which ones is not explored")},
    {StepLog::kHistory,
     DURESS_SAME("an operation may read or follow more than 64 stores: only the newest 64 are explored")},
    {StepLog::kMixedSizes,
     DURESS_SAME("an atomic is accessed in several sizes: it is sequentially consistent")},
    {StepLog::kUnseenWrite,
     DURESS_SAME("an atomic is written by an access that is none of its operations: older values of it are "
                 "not explored")},
    {StepLog::kScOrder,
     DURESS_SAME("there are more than 64 seq_cst operations that threads may reorder: older ones keep their "
                 "order")},
    {StepLog::kNotExplored, nullptr,
     "under rc11 threads meet at something else than atomics and mutexes"},  // verify names the operations
    {StepLog::kPlainRead, DURESS_SAME("a plain access reads an atomic to which several threads have stored")},
    {StepLog::kCancelled, DURESS_SAME("a thread is cancelled: where that reaches it is not explored")},
    {StepLog::kWideAccess,
     DURESS_SAME("a racing access of more than 256 bytes, or of a function of the C library, is one step: "
                 "torn values are not explored")},
    {StepLog::kTried,
     DURESS_SAME("a loop that waits takes a lock in each round, and another thread tries to take it: only "
                 "one failed attempt is explored")},
};
#undef DURESS_SAME
#undef DURESS_SUBJECT

/// The text of the most severe of `limits`; null: there is none.
inline const char* limit_text(u32 limits, Explored explored) {
  for (const LimitText& known : kLimitTexts) {
    const char* text = explored == Explored::kProgram ? known.program : known.closure;
    if (text && (limits & known.limit)) return text;
  }
  return nullptr;
}

/// Nodes of an exploration tree; more are kOutOfMemory. About 2 GiB.
inline constexpr u64 kMostNodes = u64{1} << 23;

inline constexpr const char* kTimeIsUp = "the time was up";
inline constexpr const char* kOutOfMemory = "there was no more memory for what is still to be explored";
inline constexpr const char* kClosureDiverged =
    "the closure does not do the same again under the same schedule";

/// Races were found, and for some reason, which follows, their accesses are not all steps.
inline constexpr const char* kFailuresNotSearched = "races found; failures not searched for";
inline constexpr const char* kLibraryRaces =
    "races found; failures not searched for: a library function's access races, which is not a step";

}  // namespace duress::exhaustive
