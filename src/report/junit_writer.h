// SPDX-License-Identifier: Apache-2.0
//
// JUnit's XML as CI systems read it: a test case per finding.
#pragma once

#include <string>
#include <string_view>

#include "report/stored_document.h"

namespace duress::report {

/// A destructive race, a failure, and what a command found that gives no verdicts, fails; a race without harm
/// passes, one that was not judged is skipped. Nothing found is one case that passes.
std::string to_junit(const StoredDocument& document);

/// `text` as XML's character data or attribute: always well-formed, whatever the bytes. Lines stay lines.
std::string xml_text(std::string_view text);

}  // namespace duress::report
