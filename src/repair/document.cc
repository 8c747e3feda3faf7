// SPDX-License-Identifier: Apache-2.0
//
// Fixes for the findings of a document.
#include <algorithm>

#include "repair/advice.h"

namespace duress::repair {
namespace {

// Executions. Of larger programs, fixes are checked by schedules.
constexpr u64 kMostForAdvice = 5000;
constexpr u64 kMostUnasked = 200;  // half a second

report::Fix fix_of(const Advice& advice) {
  return {advice.kind, advice.text, advice.diff(), advice.interleavings, advice.schedules};
}

}  // namespace

std::string add_fix(const verify::VerifySetup& setup, const verify::VerifyResult& result, bool may_build,
                    finding::Names& names, const std::atomic<bool>& stop, report::Document& document) {
  std::optional<Advice> advice = advise(setup, result, may_build, names, stop);
  if (!advice) return {};
  std::vector<std::string> ids;
  for (report::RaceEntry& race : document.races) {
    race.fix = fix_of(*advice);
    ids.push_back(race.id);
  }
  if (document.verification) document.verification->advice = fix_of(*advice);
  for (const search::Found& found : result.found) ids.push_back(found.failure.id);
  std::string error;
  for (const std::string& id : ids) {
    if (error.empty()) error = save_advice(setup.dir, id, *advice);
  }
  return error;
}

std::string find_fix(const exec::CampaignSetup& campaign, u64 seed, bool asked_for, finding::Names& names,
                     const std::atomic<bool>& stop, report::Document& document) {
  verify::VerifySetup setup;
  static_cast<exec::CampaignSetup&>(setup) = campaign;
  setup.worker.folder += "/verify";
  setup.seed = seed;
  setup.seconds = 0;
  setup.most_executions = asked_for ? kMostForAdvice : kMostUnasked;
  setup.keeps = setup.minimise = false;
  setup.races_suffice = true;
  verify::VerifyResult result = verify::Verifier(setup, names, nullptr).run(stop);
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone || result.interrupted) return {};
  if (!result.complete && !asked_for) return {};
  std::string error = add_fix(setup, result, asked_for, names, stop, document);
  bool found = std::any_of(document.races.begin(), document.races.end(),
                           [](const report::RaceEntry& race) { return race.fix.has_value(); });
  if (!error.empty() || result.complete || found) return error;
  std::string why;
  for (const std::string& bound : result.bounds) why += (why.empty() ? "" : "; ") + bound;
  return "no fix was found that holds in thousands of schedules; not all interleavings were explored: " + why;
}

void add_known_fixes(const std::string& dir, report::Document& document) {
  std::string ignored;
  for (report::RaceEntry& race : document.races) {
    if (std::optional<Advice> known = load_advice(dir, race.id, ignored)) race.fix = fix_of(*known);
  }
}

}  // namespace duress::repair
