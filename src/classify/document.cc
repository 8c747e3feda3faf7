// SPDX-License-Identifier: Apache-2.0
#include "classify/document.h"

#include <algorithm>

#include "classify/judgement.h"
#include "search/found.h"

namespace duress::classify {
namespace {

bool means(const std::string& only, const finding::Race& race) {
  if (only.empty() || only == race.variable || only == race.id) return true;
  for (const finding::AccessReport& side : race.sites) {
    finding::Frame site = side.site();
    std::string place = site.file + ":" + std::to_string(site.line);
    if (only == place || (place.size() > only.size() && place.ends_with("/" + only))) return true;
    if (only == place + ":" + std::to_string(site.column)) return true;
  }
  return false;
}

/// Stores the witness. Returns its token; `error` says what went wrong.
std::string keep_witness(const finding::Race& race, const Witness& witness, const ClassifySetup& setup,
                         std::string& error) {
  search::Found found;
  found.failure = witness.failure;
  found.trail = witness.trail;
  found.run = witness.trial;
  found.switches = witness.switches;
  exec::StoredFinding stored =
      search::stored_finding(found, witness.plan, setup.worker, setup.oracle, setup.seed);
  stored.id = race.id;
  stored.environment = setup.environment;
  stored.strategy = name_of(witness.by.strategy);
  if (witness.failure.kind == "output") stored.oracle.wrong_output = witness.output;
  std::string problem = exec::Store(setup.dir).save(stored);
  if (!problem.empty()) error = problem;
  return stored.token;
}

report::Judgement judgement_of(const finding::Race& race, Classifier& classifier, std::string& error) {
  auto found = classifier.variables().find(race.variable);
  if (found == classifier.variables().end() || classifier.found().always_fails()) return {};
  const Variable& variable = found->second;
  const Witness* witness = variable.witness();
  report::Judgement judgement =
      judgement_of(variable, verdict_of(variable),
                   witness != nullptr ? keep_witness(race, *witness, classifier.setup(), error) : "");
  if (auto pairs = variable.races.find(finding::group_key(race)); pairs != variable.races.end()) {
    for (const KeyPair& pair : pairs->second)
      judgement.confirmed = judgement.confirmed || variable.confirmed_pairs.count(pair) != 0;
  }
  return judgement;
}

}  // namespace

std::vector<std::string> fill_document(Classifier& classifier, const std::string& only,
                                       report::Suppressions& suppressions, report::Document& document) {
  const FoundRaces& found = classifier.found();
  report::fill_document(found.log, suppressions, document);
  document.crashes.clear();
  document.incomplete.assign(found.incomplete.begin(), found.incomplete.end());
  std::vector<std::string> all;
  for (finding::Race& race : document.races) {
    race.pid = 0;  // which process it was is chance
    if (std::find(all.begin(), all.end(), race.variable) == all.end()) all.push_back(race.variable);
  }
  std::erase_if(document.races, [&](const finding::Race& race) { return !means(only, race); });
  std::set<std::string> wanted;
  for (const finding::Race& race : document.races) wanted.insert(race.variable);
  classifier.keep([&](const Variable& variable) { return wanted.count(variable.name) != 0; });
  return all;
}

std::string add_verdicts(Classifier& classifier, report::Document& document) {
  std::string error = classifier.coverage_error();
  document.coverage = classifier.coverage();
  document.complete = classifier.complete();
  document.runs = static_cast<int>(std::min<u64>(classifier.runs(), 0x7fffffff));
  document.seconds = classifier.seconds();
  for (report::RaceEntry& race : document.races) race.judgement = judgement_of(race, classifier, error);
  report::CampaignSummary& campaign = document.campaign.emplace();
  campaign.fresh_runs = classifier.fresh_runs();
  campaign.run_seconds = classifier.seconds();
  campaign.restarts = classifier.restarts();
  campaign.leftovers = classifier.leftovers();
  campaign.one_thread = classifier.found().runs != 0 && classifier.found().one_thread;
  campaign.out_of_time = classifier.out_of_time();
  report::finish_document(document);
  return error;
}

}  // namespace duress::classify
