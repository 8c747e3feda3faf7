// SPDX-License-Identifier: Apache-2.0
//
// Failures as the `failures` of the document that `--json` writes; docs/duress-1.schema.json.
#ifndef DURESS_SEARCH_FAILURE_JSON_H_
#define DURESS_SEARCH_FAILURE_JSON_H_

#include <string>

#include "search/search.h"

namespace duress::search {

/// `document`, which is a JSON object, with what the search found added. Always valid UTF-8.
std::string with_failures(const std::string& document, const SearchResult& result, finding::Names& names);

/// The kind of a failure in the words of the schema: a signal's name has no digits there.
std::string schema_failure(const std::string& kind);

}  // namespace duress::search

#endif  // DURESS_SEARCH_FAILURE_JSON_H_
