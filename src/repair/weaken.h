// SPDX-License-Identifier: Apache-2.0
//
// Which memory orders a program needs: each atomic operation and fence is given weaker orders, one at a time,
// and all executions under rc11 are explored again as if the source had them (trail/what_if.h). Nothing is
// rebuilt.
#pragma once

#include "report/document.h"
#include "verify/verifier.h"

namespace duress::repair {

/// The result for each operation of the source, which `on_result` gets as soon as it is known.
/// REQUIRES: `base` is what exploring with setup.profile_atomics gave, complete and with nothing found.
std::vector<report::OrderEntry> weaken(const verify::VerifySetup& setup, const verify::VerifyResult& base,
                                       finding::Names& names, const std::atomic<bool>& stop,
                                       const std::function<void(const report::OrderEntry& one)>& on_result);

}  // namespace duress::repair
