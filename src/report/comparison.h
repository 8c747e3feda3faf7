// SPDX-License-Identifier: Apache-2.0
//
// Two documents side by side: what is new, what is gone, and of what both have what changed.
#pragma once

#include <string>
#include <vector>

#include "report/stored_document.h"

namespace duress::report {

/// What a finding was and what it is now, in the words of reports.
struct Change {
  std::string what;  // "verdict", "confirmed", "failure", "pairs of accesses"
  std::string before, now;
};

struct ComparedFinding {
  const Json* finding = nullptr;  // in the newer document; of one that is gone in the older
  std::vector<Change> changes;    // none: it is new or gone
};

struct Comparison {
  std::vector<ComparedFinding> fresh, changed, gone;
  std::vector<const Json*> unchanged;  // in the newer document
  std::vector<std::string> notes;      // in what the two campaigns differ: a finding may be gone for that
};

/// Findings are the same if their ids are; places may move. The result points into both documents.
Comparison compare(const StoredDocument& before, const StoredDocument& now);

/// "1 new, 2 changed, 0 gone, 5 unchanged".
std::string comparison_summary(const Comparison& comparison);
/// A line for each that is new, changed or gone; of a changed one also a line for each change.
std::vector<std::string> comparison_lines(const Comparison& comparison);
/// `before` and `now` name the documents.
Json comparison_json(const Comparison& comparison, const StoredDocument& before,
                     const std::string& before_name, const StoredDocument& now, const std::string& now_name);

/// A finding as a compiler would write it: "file:line:column: error: title [id]".
std::string finding_line(const Json& finding);

}  // namespace duress::report
