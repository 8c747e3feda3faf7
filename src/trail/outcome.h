// SPDX-License-Identifier: Apache-2.0
//
// How an execution ended.
#pragma once

#include "base/types.h"

namespace duress::trail {

/// Mistakes with a lock or a thread at which a systematic execution ends.
/// DURESS_MISUSE(identifier, number, word, text)
#define DURESS_MISUSES(DURESS_MISUSE)                                                                 \
  DURESS_MISUSE(kUnlockedTwice, 16, "double-unlock", "unlocks a mutex that nobody holds")             \
  DURESS_MISUSE(kUnlockedByOther, 17, "unlock-by-other", "unlocks a mutex that another thread holds") \
  DURESS_MISUSE(kLockKept, 18, "lock-kept", "a thread ends and keeps a mutex locked")                 \
  DURESS_MISUSE(kNotJoined, 19, "not-joined",                                                         \
                "the program ends, and a thread was neither joined nor detached")

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

/// Null: the outcome is not a misuse.
constexpr const Misuse* misuse_of(Outcome outcome) {
  for (const Misuse& misuse : kMisuses) {
    if (misuse.outcome == outcome) return &misuse;
  }
  return nullptr;
}

}  // namespace duress::trail
