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
  kLocked = 1,          // the mutex at address value[0] is held
  kPublishedAfter = 2,  // atomic stores of the same function that come before it come right after it
};

/// Where the record says at which line a store was held back: 0 if none was.
inline u64& held_back_line(Record& record) {
  return record.unused[0];
}

inline bool asks_as_if(const Request& request) {
  return request.steps != 0 && (request.sites != 0 || request.predictions != 0);
}

}  // namespace duress::trail

#endif  // DURESS_TRAIL_AS_IF_H_
