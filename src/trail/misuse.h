// SPDX-License-Identifier: Apache-2.0
//
// Outcomes of executions by steps that are the program's mistake with a lock or a thread: the execution ends
// there. They go on from trail::Outcome.
#ifndef DURESS_TRAIL_MISUSE_H_
#define DURESS_TRAIL_MISUSE_H_

#include "trail/execution.h"

namespace duress::trail {

/// DURESS_MISUSE(identifier, number, word, text)
#define DURESS_MISUSES(DURESS_MISUSE)                                                                 \
  DURESS_MISUSE(kUnlockedTwice, 16, "double-unlock", "unlocks a mutex that nobody holds")             \
  DURESS_MISUSE(kUnlockedByOther, 17, "unlock-by-other", "unlocks a mutex that another thread holds") \
  DURESS_MISUSE(kLockKept, 18, "lock-kept", "a thread ends and keeps a mutex locked")                 \
  DURESS_MISUSE(kNotJoined, 19, "not-joined",                                                         \
                "the program ends, and a thread was neither joined nor detached")

#define DURESS_MISUSE(identifier, number, word, text) \
  inline constexpr Outcome identifier = static_cast<Outcome>(number);
DURESS_MISUSES(DURESS_MISUSE)
#undef DURESS_MISUSE

struct Misuse {
  Outcome outcome;
  const char* word;
  const char* text;
};
inline constexpr Misuse kMisuses[] = {
#define DURESS_MISUSE(identifier, number, word, text) {identifier, word, text},
    DURESS_MISUSES(DURESS_MISUSE)
#undef DURESS_MISUSE
};

/// Null: it is none.
constexpr const Misuse* misuse_of(Outcome outcome) {
  for (const Misuse& misuse : kMisuses) {
    if (misuse.outcome == outcome) return &misuse;
  }
  return nullptr;
}

}  // namespace duress::trail

#endif  // DURESS_TRAIL_MISUSE_H_
