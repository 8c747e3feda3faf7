// SPDX-License-Identifier: Apache-2.0
//
// One document of many: what `duress test --json` writes. The documents of cases stay JSON, as a
// report::StoredDocument does: they come from files, and those of an interrupted campaign may be of another
// version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/coverage.h"
#include "report/stored_document.h"
#include "report/summary.h"
#include "suite/campaign.h"

namespace duress::suite {

/// What the summary and the exit code need of a race.
struct ChargedRace {
  std::string id, verdict, test;
};

struct SuiteDocument {
  report::Json json;
  std::vector<ChargedRace> races;  // each once, however many cases have it
  report::Summary summary;
  std::optional<report::Coverage> coverage;  // summed over the cases that have one; not in `json`

  /// As --json writes it.
  std::string text() const;
};

struct DocumentHead {
  std::int64_t seed = 1;
  std::string build_dir;
  double seconds = 0;
};

/// A race that several cases have is one entry, of the case with the worst verdict: `test`; all of them are
/// in `tests`. `cases` lists every case with its outcome.
SuiteDocument merge_documents(const DocumentHead& head, const std::vector<CaseResult>& cases);

/// The races of one case, counted.
report::Summary summary_of(const CaseResult& result);

}  // namespace duress::suite
