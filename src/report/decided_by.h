// SPDX-License-Identifier: Apache-2.0
//
// Where the values came from that a failing thread read last: who stored them, and what that thread had read
// before. A slice backwards over the loads that were recorded; what the program computed from them is not
// known, so it is told in their order only.
#pragma once

#include <string>
#include <vector>

#include "finding/lanes.h"
#include "finding/log_record.h"

namespace duress::report {

/// A line for each of the last loads, the last one first. `objects`: the address of each event's object, as
/// several objects may have one name. None: the failure is nobody's (a deadlock, an
/// output), or its thread read nothing that another thread has stored.
std::vector<std::string> decided_by(const finding::Lanes& lanes,
                                    const std::vector<finding::Address>& objects);

}  // namespace duress::report
