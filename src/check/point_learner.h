// SPDX-License-Identifier: Apache-2.0
//
// duress::check learns which plain accesses are schedule points: those of a location that two strands touch,
// one of them writing. All functions run their faithful bodies, so a site that is found to access shared
// memory is a point from the next execution on.
#pragma once

#include "base/types.h"
#include "duress/hooks.h"

namespace duress {

/// False: out of memory.
bool prepare_point_learner();
void learner_execution_begins();
/// For g_learn_access (runtime/control.h).
void learn_access(const void* p, u64 size, bool write, const DuressSite* site);

}  // namespace duress
