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
  // The atomic operation or fence whose hook returns to value[0] has the memory order `count`; where it is a
  // compare-and-exchange that fails, `size`.
  kOrdered = 3,
};

/// Request::profile: the record lists the atomic operations that ran, as entries like those of kOrdered, with
/// their kind as `strand`.
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
