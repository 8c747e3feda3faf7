// SPDX-License-Identifier: Apache-2.0
//
// A traced execution as lanes, for reports: every step with its value, and the arrows between threads.
#pragma once

#include <optional>

#include "finding/failure.h"
#include "finding/lanes.h"
#include "trail/execution.h"

namespace duress::report {

/// More than that nobody reads; the last ones are kept, as the failure is at the end.
inline constexpr std::size_t kMostLaneEvents = 10000;
/// So many of the last steps are looked at for where arrows and values come from.
inline constexpr std::size_t kLookedAt = 100000;

/// `record`: of the same execution; it says which loads got other values than memory held. Arrows of
/// synchronisation are drawn where they are certain: creation, join, locks, semaphores.
finding::Lanes lanes_of(const finding::RunLogs& logs, const trail::Record& record,
                        const std::optional<finding::Failure>& failure, finding::Names& names,
                        std::size_t most = kMostLaneEvents);

}  // namespace duress::report
