// SPDX-License-Identifier: Apache-2.0
//
// What a search found, as documents have it.
#pragma once

#include "report/document.h"
#include "search/search.h"

namespace duress::search {

/// `counted`: the search went on after the failure, so how often it came is known.
report::FailureEntry failure_entry(const Found& found, bool counted, finding::Names& names);

/// Fills all but the head of the document.
void fill_document(const SearchResult& result, finding::Names& names, report::Document& document);

}  // namespace duress::search
