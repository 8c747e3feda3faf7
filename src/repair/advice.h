// SPDX-License-Identifier: Apache-2.0
//
// Fixes for the races that `duress verify` found (Java RaceFinder's JRF-E). Every proposal is checked: all
// interleavings are explored again as if it had been made (trail/what_if.h), and a proposal that leaves a
// race or a failure is discarded. Where not all can be explored, the changed program is built and thousands
// of its schedules are run; that is no proof and is never called one.
#pragma once

#include "repair/source_edit.h"
#include "report/document.h"
#include "verify/verifier.h"

namespace duress::repair {

struct Advice {
  std::string kind;             // "atomic", "lock", "publish-after-init", "join": the spelling of --json
  std::string text;             // "make `done` atomic; acquire and release are enough"
  u64 interleavings = 0;        // of the fixed program, all of them: none has a race or a failure
  u64 schedules = 0;            // or so many schedules, if there are too many interleavings: no proof
  std::vector<FileEdit> edits;  // empty: it cannot be applied automatically
  std::string problem;          // then: why not
  bool rebuilt = false;         // the program was built with the edits and verified, not only as if
  // How to verify it again: the program with its arguments, and options of duress verify.
  std::vector<std::string> target, options;
  std::string diff() const;
};

/// A fix for all races at once; nothing if no proposal is one. `may_build`: changes of the source that have
/// no what-if edit are tried too, by building and verifying the changed program.
std::optional<Advice> advise(const verify::VerifySetup& setup, const verify::VerifyResult& result,
                             bool may_build, finding::Names& names, const std::atomic<bool>& stop);

// Fixes for the findings of a document; each is also kept for `duress fix`. They return "" or what the user
// should know.

/// One for all findings of `result`.
std::string add_fix(const verify::VerifySetup& setup, const verify::VerifyResult& result, bool may_build,
                    finding::Names& names, const std::atomic<bool>& stop, report::Document& document);
/// The same for the races that another campaign found: the program is explored first, if it is small.
/// `asked_for`: it may be larger.
std::string find_fix(const exec::CampaignSetup& campaign, u64 seed, bool asked_for, finding::Names& names,
                     const std::atomic<bool>& stop, report::Document& document);
/// Those that were found before.
void add_known_fixes(const std::string& dir, report::Document& document);

/// Kept for `duress fix`, under the id of each race. "" or what went wrong.
std::string save_advice(const std::string& dir, const std::string& race, const Advice& advice);
std::optional<Advice> load_advice(const std::string& dir, const std::string& race, std::string& error);
/// Applies the edits. "" or what went wrong; then no file was changed.
std::string apply_advice(const Advice& advice);

}  // namespace duress::repair
