// SPDX-License-Identifier: Apache-2.0
//
// Keys of the schema first; what it does not name (crashes, statistics) is added beside
// them. A crash is not a "failure" of the schema: that one carries a replay token, and a free run has none.
#include "report/json_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/coverage_json.h"
#include "report/finding_json.h"
#include "report/verification_text.h"

namespace duress::report {
namespace {

using Json = nlohmann::ordered_json;

void put_verification(Json& json, const Verification& verification) {
  json["model"] = verification.rc11 ? "rc11" : "sc";
  if (verification.reads_from || !verification.by_traces.empty())
    json["equivalence"] = verification.reads_from ? "rf" : "trace";
  if (!verification.by_traces.empty()) json["by_traces"] = verification.by_traces;
  json["interleavings"] = verification.interleavings;
  if (verification.blocked != 0) json["blocked"] = verification.blocked;
  if (verification.racing_steps != 0) {
    json["rounds"] = verification.rounds;
    json["racing_steps"] = verification.racing_steps;
  }
  if (verification.spurious != 0) json["spurious"] = verification.spurious;
  if (verification.timeouts != 0) json["timeouts"] = verification.timeouts;
  static constexpr const char* kMemory[] = {"not-looked-for", "partly", "looked-for"};
  json["memory_errors"] = kMemory[static_cast<std::size_t>(verification.memory)];
  if (std::string assumed = assumptions_text(verification); !assumed.empty()) json["assumes"] = assumed;
  if (verification.first_finding != 0) json["first_finding"] = verification.first_finding;
  if (const std::optional<EstimatedTotal>& estimate = verification.estimate)
    json["estimate"] = {{"total", std::round(estimate->total)},
                        {"low", std::round(estimate->low)},
                        {"high", std::round(estimate->high)}};
  std::string bound;
  for (const std::string& one : verification.bounds) bound += (bound.empty() ? "" : "; ") + one;
  if (!bound.empty()) json["bound"] = bound;
  if (const std::optional<Fix>& advice = verification.advice) {
    json["advice"] = {{"text", advice->text}};
    if (advice->schedules != 0)
      json["advice"]["schedules"] = advice->schedules;
    else
      json["advice"]["interleavings"] = advice->interleavings;
    if (!advice->diff.empty()) json["advice"]["diff"] = advice->diff;
  }
  if (!verification.orders) return;
  json["orders"] = Json::array();
  for (const OrderEntry& one : *verification.orders) {
    Json entry = {{"file", one.place.file},      {"line", one.place.line}, {"column", one.place.column},
                  {"operation", one.operation},  {"order", one.order},     {"sufficient", one.sufficient},
                  {"executions", one.executions}};
    if (!one.with_less.empty()) entry["with_less"] = one.with_less;
    if (one.bounded) entry["bounded"] = true;
    json["orders"].push_back(std::move(entry));
  }
}

Json to_json(const CollideReport& collide) {
  Json json;
  json["samples"] = collide.samples;
  json["fired"] = collide.fired;
  json["armed"] = collide.armed;
  json["hits"] = collide.hits;
  if (collide.asked > 0) json["overhead_asked"] = collide.asked;
  json["overhead"] = collide.overhead;
  json["watchpoints"] = collide.watchpoints;
  if (collide.pid != 0) json["process"] = collide.pid;
  for (std::size_t i = 0; i < finding::kCategories; ++i) {
    auto category = static_cast<finding::Category>(i);
    json["categories"][finding::category_name(category)] = {{"found", collide.found[i]},
                                                            {"shown", collide.hidden.count(category) == 0}};
  }
  return json;
}

}  // namespace

Json json_of(const Summary& summary) {
  Json json = {{"races", summary.races},
               {"pairs", summary.pairs},
               {"failures", summary.failures},
               {"runs", summary.runs}};
  if (!summary.judged) return json;
  using finding::VerdictKind;
  for (VerdictKind kind :
       {VerdictKind::kDestructive, VerdictKind::kSlower, VerdictKind::kSameValue, VerdictKind::kNoHarmFound})
    json[finding::name_of(kind)] = summary.count(kind);
  json["not-judged"] = summary.count(VerdictKind::kOpen);
  return json;
}

Json json_of(const Document& document) {
  Json json;
  json["schema"] = "duress/1";
  json["command"] = document.command;
  json["version"] = document.version;
  json["seed"] = document.seed;
  json["target"] = document.target;
  json["runs"] = document.runs;
  json["seconds"] = document.seconds;
  json["incomplete"] = document.incomplete;
  json["summary"] = json_of(document.summary);
  json["races"] = Json::array();
  for (const RaceEntry& race : document.races) json["races"].push_back(to_json(race, document.cwd));
  if (!document.potential.empty()) {
    json["potential_races"] = Json::array();
    for (const finding::Race& race : document.potential)
      json["potential_races"].push_back(to_json(race, document.cwd));
  }
  if (!document.suspicions.empty()) {
    json["suspicions"] = Json::array();
    for (const finding::Suspicion& suspicion : document.suspicions) {
      Json entry;
      entry["analysis"] = suspicion.analysis;
      entry["what"] = suspicion.what;
      if (!suspicion.variable.empty()) entry["variable"] = suspicion.variable;
      entry["sites"] = Json::array();
      for (const finding::AccessReport& access : suspicion.sites)
        entry["sites"].push_back(to_json(access, document.cwd));
      json["suspicions"].push_back(std::move(entry));
    }
  }
  json["suppressed"] = document.suppressed;
  json["crashes"] = Json::array();
  for (const finding::Crash& crash : document.crashes) {
    Json entry;
    entry["signal"] = crash.signal;
    entry["thread"] = crash.thread;
    if (!crash.thread_name.empty()) entry["thread_name"] = crash.thread_name;
    entry["process"] = crash.pid;
    entry["stack"] = to_json(crash.stack, document.cwd);
    json["crashes"].push_back(std::move(entry));
  }
  if (!document.unused_suppressions.empty()) {
    Json& unused = json["unused_suppressions"] = Json::array();
    for (const Suppression& entry : document.unused_suppressions) {
      unused.push_back(
          {{"line", entry.type + ":" + entry.pattern}, {"file", entry.file}, {"number", entry.line}});
    }
  }
  if (document.collide) json["collide"] = to_json(*document.collide);
  if (!document.stats.empty()) json["stats"] = document.stats;
  if (!document.warnings.empty()) json["warnings"] = document.warnings;
  if (document.complete) json["complete"] = *document.complete;
  if (!document.fails.empty()) json["fails"] = document.fails;
  if (document.failures) {
    json["failures"] = Json::array();
    for (const FailureEntry& entry : *document.failures)
      json["failures"].push_back(to_json(entry, document.cwd));
  }
  if (!document.found_before.empty()) json["found_before"] = document.found_before;
  if (document.coverage) json["coverage"] = json_of(*document.coverage);
  if (document.verification) put_verification(json, *document.verification);
  return json;
}

std::string to_json(const Document& document) {
  return json_of(document).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace duress::report
