// SPDX-License-Identifier: Apache-2.0
//
// Places and thread flows in SARIF's words.
#pragma once

#include <string>

#include "report/stored_document.h"

namespace duress::report {

/// `path` as a URI reference: relative if it is, else file:///...; what a URI cannot carry is escaped.
std::string uri_of(const std::string& path);
/// Texts of the target: no control characters, no links (SARIF reads [text](1) as one), not without end.
std::string sarif_text(const std::string& text);
/// `place` has file, line, column and function. `message` "": none.
Json location(const Json& place, const std::string& message);
/// "T1 reads x".
std::string access_words(const Json& side, const std::string& variable);
/// The execution, a flow per thread; executionOrder ties them together.
Json flows_of(const finding::Lanes& all);
/// The two stacks, outermost first, which is all that is known of a free run.
Json flows_of_stacks(const Json& race);

}  // namespace duress::report
