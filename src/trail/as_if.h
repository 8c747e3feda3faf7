// SPDX-License-Identifier: Apache-2.0
//
// Executions by steps can be asked what would be if the program were another one. Request::sites are then
// accesses that are performed as atomic ones, with the order Request::depth; and each Prediction is an entry
// of another kind, of which `site` is the access and `strand` says what is done there.
#ifndef DURESS_TRAIL_AS_IF_H_
#define DURESS_TRAIL_AS_IF_H_

#include "trail/execution.h"

namespace duress::trail {

enum class AsIf : u32 {
  kLocked = 1,  // the mutex at address value[0] is held
  // The atomic store whose call returns to value[0] comes right after it. If that is 0, the record shall say
  // which one was the last before it in the same call of the same function.
  kPublishedAfter = 2,
  // Atomic operations or fences of the kind `site`, of which one of the innermost calls returns to value[0],
  // have the memory order `count`; where they are compare-and-exchanges that fail, `size`.
  kOrdered = 3,
  // The strand of path value[1] joins the one of path value[0] before it, if that one has been made. Where it
  // really joins such a strand later is told (trail/told.h).
  kJoined = 4,
};

/// A strand's path says who made it, as its how many-th, and who made that one: a byte each. Main's is 0.
inline constexpr u64 kNoPath = ~u64{0};  // too deep, or made too late, to be named
constexpr u64 path_of(u64 creator, u32 ordinal) {
  return creator >> 56 || ordinal > 255 ? kNoPath : creator << 8 | ordinal;
}
constexpr u64 creator_of(u64 path) {
  return path >> 8;
}

inline constexpr u32 kOrderedCalls = 8;  // so many innermost calls, the one of the hook first

/// Request::profile: the record lists the atomic operations that ran. Each is kOrderedCalls / 2 entries with
/// two calls as value[]; 0: there are no more. The first has their kind as `site`, and their orders.
enum class AtomicKind : u32 { kLoad, kStore, kUpdate, kCompare, kFence };

/// Where the record says which store was held back, or could be; 0: none.
inline u64& published_at(Record& record) {
  return record.published;
}

inline bool asks_as_if(const Request& request) {
  return request.steps != 0 && (request.sites != 0 || request.predictions != 0 || request.profile != 0);
}

}  // namespace duress::trail

#endif  // DURESS_TRAIL_AS_IF_H_
