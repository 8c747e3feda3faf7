// SPDX-License-Identifier: Apache-2.0
//
// How an execution ended.
#pragma once

#include "base/types.h"

namespace duress::trail {

/// Mistakes at which an execution ends: with a lock or a thread, in systematic executions; with memory, where
/// Request::memory asks for them.
/// DURESS_MISUSE(identifier, number, word, text)
#define DURESS_MISUSES(DURESS_MISUSE)                                                                        \
  DURESS_MISUSE(kUnlockedTwice, 16, "double-unlock", "unlocks a mutex that nobody holds")                    \
  DURESS_MISUSE(kUnlockedByOther, 17, "unlock-by-other", "unlocks a mutex that another thread holds")        \
  DURESS_MISUSE(kLockKept, 18, "lock-kept", "a thread ends and keeps a mutex locked")                        \
  DURESS_MISUSE(kNotJoined, 19, "not-joined",                                                                \
                "the program ends, and a thread was neither joined nor detached")                            \
  DURESS_MISUSE(kUseAfterFree, 32, "use-after-free", "uses heap memory that was freed")                      \
  DURESS_MISUSE(kOutOfBounds, 33, "out-of-bounds", "accesses memory outside of a heap block")                \
  DURESS_MISUSE(kNeverWritten, 34, "never-written", "depends on heap memory that was never written")         \
  DURESS_MISUSE(kDoubleFree, 35, "double-free", "frees a heap block that was freed before")                  \
  DURESS_MISUSE(kInvalidFree, 36, "invalid-free", "frees what is not the beginning of a heap block")         \
  DURESS_MISUSE(kMismatchedFree, 37, "mismatched-free",                                                      \
                "frees a heap block in another way than it was allocated")                                   \
  DURESS_MISUSE(kFrameGone, 38, "use-after-return", "uses a local variable of a function that has returned") \
  DURESS_MISUSE(kUseAfterDestroy, 39, "use-after-destroy",                                                   \
                "uses a synchronisation object that was destroyed")                                          \
  DURESS_MISUSE(kDestroyedInUse, 40, "destroyed-in-use", "destroys a synchronisation object that is in use") \
  DURESS_MISUSE(kInitialisedTwice, 41, "double-init",                                                        \
                "initialises a synchronisation object that was initialised before, and not destroyed")

/// As far as the runtime knows; signals and exit codes are seen by the host.
enum class Outcome : u32 {
  kRunning = 0,  // not ended: it crashed, was killed, or its process never came to an end
  kEnded,        // exit, or main returned
  kDeadlock,
  kLivelock,
  kStepLimit,
  kStuck,   // a thread ran for long without reaching a schedule point
  kFailed,  // duress::check saw the closure fail
#define DURESS_MISUSE(identifier, number, word, text) identifier = number,
  DURESS_MISUSES(DURESS_MISUSE)
#undef DURESS_MISUSE
};

struct Misuse {
  Outcome outcome;
  const char* word;
  const char* text;
};
inline constexpr Misuse kMisuses[] = {
#define DURESS_MISUSE(identifier, number, word, text) {Outcome::identifier, word, text},
    DURESS_MISUSES(DURESS_MISUSE)
#undef DURESS_MISUSE
};

/// Whether the mistake is one with memory.
constexpr bool is_memory_error(Outcome outcome) {
  return raw(outcome) >= raw(Outcome::kUseAfterFree) && raw(outcome) <= raw(Outcome::kInitialisedTwice);
}

/// Null: the outcome is not a misuse.
constexpr const Misuse* misuse_of(Outcome outcome) {
  for (const Misuse& misuse : kMisuses) {
    if (misuse.outcome == outcome) return &misuse;
  }
  return nullptr;
}

}  // namespace duress::trail
