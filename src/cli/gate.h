// SPDX-License-Identifier: Apache-2.0
//
// What makes a command's exit code 66: `--fail-on`, and `--baseline` with what was known before.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/document.h"

namespace duress::cli {

/// The findings of an earlier document of --json.
class Baseline {
 public:
  /// "" or what is wrong with the file.
  std::string load(const std::string& path);

  /// Whether the document has this finding. Ids are cut to as many digits as its document needs, so one may
  /// be the beginning of the other.
  bool knows(const std::string& id) const { return find(id) != nullptr; }
  /// Whether it was destructive then, or nobody had asked.
  bool knows_as_destructive(const std::string& id) const;

 private:
  const std::string* find(const std::string& id) const;
  std::map<std::string, std::string> verdicts_;  // by id; "": none was given
};

/// What --fail-on takes, best known first.
const std::vector<std::string>& fail_on_names();

/// One finding, as far as the exit code is concerned.
struct Gated {
  std::string id;
  bool destructive = false;  // it was seen to do harm; a failure always is
};

/// Whether `finding` makes the exit code 66.
bool fails(const std::string& fail_on, const Baseline& baseline, const Gated& finding);

/// The same for a whole document. `races_count`: else only failures count.
bool fails(const std::string& fail_on, const Baseline& baseline, const report::Document& document,
           bool races_count = true);

/// Marks the findings of the document that the baseline knows.
void mark_known(report::Document& document, const Baseline& baseline);

}  // namespace duress::cli
