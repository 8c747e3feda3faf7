// SPDX-License-Identifier: Apache-2.0
//
// From what a search found to an entry of a document. It is here because `search` does not know `report`.
#ifndef DURESS_CLI_FOUND_ENTRY_H_
#define DURESS_CLI_FOUND_ENTRY_H_

#include "report/failure_entry.h"
#include "search/search.h"

namespace duress::cli {

/// `counted`: the search went on after the failure, so how often it came is known.
report::FailureEntry found_entry(const search::Found& found, bool counted, finding::Names& names);

}  // namespace duress::cli

#endif  // DURESS_CLI_FOUND_ENTRY_H_
