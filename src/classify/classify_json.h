// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_CLASSIFY_CLASSIFY_JSON_H_
#define DURESS_CLASSIFY_CLASSIFY_JSON_H_

#include <map>
#include <string>

#include "classify/verdict.h"

namespace duress::classify {

/// A race of a report and what is known of its variable.
struct RaceVerdict {
  const Variable* variable = nullptr;
  Verdict verdict;
  bool confirmed = false;  // its own accesses were brought together
  bool baseline = false;   // it is in the document that --baseline names
  std::string token;       // of the witness, or "@FILE"
};

struct ClassifyDocument {
  std::map<std::string, RaceVerdict> races;  // by id
  bool complete = false;
  bool stats = false;
  std::string test;   // the case that races are charged to; "": none
  std::string fails;  // how the program fails in every run; "": it does not
};

/// The document of a report with a verdict and its evidence for each race.
std::string with_verdicts(const std::string& document, const ClassifyDocument& verdicts);

}  // namespace duress::classify

#endif  // DURESS_CLASSIFY_CLASSIFY_JSON_H_
