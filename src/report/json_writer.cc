// SPDX-License-Identifier: Apache-2.0
//
// Keys of the schema first; what it does not name (crashes, blocks, counts, statistics) is added beside
// them. A crash is not a "failure" of the schema: that one carries a replay token, and a free run has none.
#include "report/json_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/path.h"

namespace duress::report {
namespace {

using Json = nlohmann::ordered_json;
using finding::BlockKind;
using finding::Frame;

void put_place(Json& json, const Frame& frame, const std::string& cwd) {
  if (frame.file.empty()) return;
  json["file"] = shown_path(frame.file, cwd);
  json["line"] = frame.line;
  if (frame.column != 0) json["column"] = frame.column;
}

Json to_json(const Frame& frame, const std::string& cwd) {
  Json json;
  json["function"] = frame.function;
  put_place(json, frame, cwd);
  if (!frame.module.empty()) json["module"] = frame.module;
  if (frame.module_offset != 0) json["address"] = frame.module_offset;
  return json;
}

Json to_json(const std::vector<Frame>& stack, const std::string& cwd) {
  Json json = Json::array();
  for (const Frame& frame : stack) json.push_back(to_json(frame, cwd));
  return json;
}

Json to_json(const finding::AccessReport& access, const std::string& cwd) {
  const Frame site = access.site();
  Json json;
  json["file"] = shown_path(site.file, cwd);
  json["line"] = site.line;
  json["column"] = site.column;
  json["function"] = site.function;
  // Giving memory back is a write to all of it; the schema has no word of its own for it.
  bool frees = access.access == finding::Access::kFree;
  json["access"] = frees ? "write" : finding::access_name(access.access);
  if (frees) json["frees"] = true;
  json["size"] = access.size;
  json["thread"] = access.thread;
  if (!access.thread_name.empty()) json["thread_name"] = access.thread_name;
  if (!access.instruction.empty()) json["instruction"] = access.instruction;
  json["locks"] = access.locks;
  json["stack"] = to_json(access.stack, cwd);
  return json;
}

const char* kind_name(BlockKind kind) {
  switch (kind) {
    case BlockKind::kHeap:
      return "heap";
    case BlockKind::kGlobal:
      return "global";
    case BlockKind::kStack:
      return "stack";
    case BlockKind::kTls:
      return "tls";
    case BlockKind::kMmap:
      return "mmap";
    case BlockKind::kUnknown:
      break;
  }
  return "unknown";
}

Json to_json(const finding::Race& race, const std::string& cwd) {
  Json json;
  json["id"] = race.id;
  json["variable"] = race.variable;
  json["kind"] = race.kind();
  json["sites"] = {to_json(race.sites[0], cwd), to_json(race.sites[1], cwd)};
  json["found_by"] = race.found_by;
  json["count"] = race.count;
  if (race.collision) {
    json["category"] = finding::category_name(race.collision->category);
    json["before"] = race.collision->before;
    json["after"] = race.collision->after;
    json["held_us"] = race.collision->held_microseconds;
  }
  json["process"] = race.pid;
  Json& block = json["block"];
  block["kind"] = kind_name(race.block.kind);
  if (!race.block.name.empty()) block["name"] = race.block.name;
  if (race.block.size != 0) block["size"] = race.block.size;
  block["offset"] = race.block.offset;
  if (race.block.thread >= 0) block["thread"] = race.block.thread;
  if (!race.block.stack.empty()) block["stack"] = to_json(race.block.stack, cwd);
  json["threads"] = Json::array();
  for (const finding::ThreadReport& thread : race.threads) {
    Json entry;
    entry["id"] = thread.id;
    if (thread.parent >= 0) entry["parent"] = thread.parent;
    if (!thread.name.empty()) entry["name"] = thread.name;
    entry["stack"] = to_json(thread.stack, cwd);
    json["threads"].push_back(std::move(entry));
  }
  return json;
}

void put_attack(Json& json, const AttackName& attack) {
  json["model"] = attack.model;
  if (!attack.strategy.empty())
    json["strategy"] = attack.strategy;
  else
    json["heuristic"] = attack.heuristic;
  if (!attack.policy.empty()) json["policy"] = attack.policy;
}

Json to_json(const AttackRate& rate) {
  Json json;
  put_attack(json, rate.attack);
  if (!rate.attack.fair) json["fair"] = false;
  json["failed"] = rate.failed;
  if (rate.discarded != 0) json["invalid"] = rate.discarded;
  json["runs"] = rate.runs;
  return json;
}

Json evidence_json(const Judgement& judgement) {
  Json evidence;
  const std::optional<WitnessEntry>& witness = judgement.witness;
  if (witness) {
    evidence["failure"] = schema_failure(witness->failure.kind);
    evidence["text"] = witness->failure.text;
    put_attack(evidence, witness->by);
    evidence["fair"] = witness->by.fair;
    if (witness->replaced) {
      evidence["read"] = witness->replaced->read;
      evidence["newest"] = witness->replaced->newest;
    }
  } else if (judgement.slower) {
    put_attack(evidence, judgement.slower->by);
    evidence["work"] = std::round(judgement.slower->times * 100) / 100;
  }
  evidence["rates"] = Json::array();
  for (const AttackRate& rate : judgement.rates) evidence["rates"].push_back(to_json(rate));
  evidence["counterfactual"] = {{"failed", judgement.counterfactual.failed},
                                {"runs", judgement.counterfactual.runs}};
  if (witness) {
    evidence["switches"] = witness->switches;
    evidence["replaced_values"] = witness->values;
    evidence["replayed"] = witness->replayed;
    evidence["replays"] = witness->replays;
    evidence["replay"] = witness->token;
    if (!witness->interleaving.empty()) evidence["interleaving"] = witness->interleaving;
  }
  return evidence;
}

void put_judgement(Json& json, const Judgement& judgement) {
  if (!judgement.attacked) return;
  json["runs"] = judgement.runs;
  if (judgement.figures) {
    json["stats"] = {{"instances", judgement.figures->instances},
                     {"writes", judgement.figures->writes},
                     {"reads", judgement.figures->reads},
                     {"largest", judgement.figures->largest},
                     {"largest_uncompressed", judgement.figures->largest_uncompressed}};
  }
  if (!judgement.other_failure.empty())
    json["not_judged"] = {{"failure", judgement.other_failure}, {"other_causes", judgement.other_causes}};
  if (judgement.kind == finding::VerdictKind::kOpen) return;
  json["verdict"] = finding::name_of(judgement.kind);
  json["evidence"] = evidence_json(judgement);
}

Json to_json(const RaceEntry& race, const std::string& cwd) {
  Json json = to_json(static_cast<const finding::Race&>(race), cwd);
  // Readers see the keys in the order in which commands have always written them.
  if (race.judgement) {
    json["confirmed"] = race.judgement->confirmed;
    if (!race.test.empty()) json["test"] = race.test;
    if (race.baseline) json["baseline"] = true;
    put_judgement(json, *race.judgement);
  }
  if (!race.replay.empty()) json["replay"] = race.replay;
  if (race.fix) {
    Json& fix = json["fix"] = {{"kind", race.fix->kind}, {"text", race.fix->text}};
    if (!race.fix->diff.empty()) fix["diff"] = race.fix->diff;
    fix["passed"] = race.fix->interleavings;
  }
  if (race.baseline) json["baseline"] = true;
  return json;
}

Json stacks_json(const FailureEntry& entry, const std::string& cwd) {
  Json list = Json::array();
  for (const WaitingThread& thread : entry.waiting) {
    Json one;
    one["thread"] = thread.thread;
    one["thread_name"] = thread.name;
    one["state"] = thread.state;
    one["operation"] = thread.operation;
    if (!thread.object.empty()) one["object"] = thread.object;
    one["held_by"] = thread.held_by;
    one["stack"] = to_json(thread.stack, cwd);
    list.push_back(std::move(one));
  }
  for (const CrashedThread& thread : entry.crashes)
    list.push_back({{"thread", thread.thread}, {"stack", to_json(thread.stack, cwd)}});
  return list;
}

Json to_json(const FailureEntry& entry, const std::string& cwd) {
  const Discovery& found = entry.found;
  Json json;
  json["id"] = entry.failure.id;
  json["failure"] = schema_failure(entry.failure.kind);
  json["text"] = entry.failure.text;
  json["strategy"] = found.strategy;
  json["model"] = found.model;
  if (found.weak_model) {
    json["heuristic"] = found.heuristic;
    json["stale"] = found.stale;
    json["early_stores"] = found.early;
    json["without_model"] = {{"failed", found.needs_model || found.without_model == 0 ? 0 : 1},
                             {"runs", found.without_model}};
  }
  json["found_at_run"] = found.run;
  if (found.times) json["runs_failed"] = *found.times;
  json["switches"] = found.switches;
  json["replayed"] = found.replayed;
  json["replay"] = found.token;
  put_place(json, entry.failure.place, cwd);
  json["stacks"] = stacks_json(entry, cwd);
  if (!entry.errors.empty()) json["stderr"] = entry.errors;
  if (entry.baseline) json["baseline"] = true;
  return json;
}

void put_verification(Json& json, const Verification& verification) {
  json["interleavings"] = verification.interleavings;
  if (verification.spurious != 0) json["spurious"] = verification.spurious;
  if (verification.timeouts != 0) json["timeouts"] = verification.timeouts;
  if (verification.assumes_signals) json["assumes"] = "waits end only by signals";
  if (verification.first_finding != 0) json["first_finding"] = verification.first_finding;
  std::string bound;
  for (const std::string& one : verification.bounds) bound += (bound.empty() ? "" : "; ") + one;
  if (!bound.empty()) json["bound"] = bound;
  if (const std::optional<Fix>& advice = verification.advice) {
    json["advice"] = {{"text", advice->text}, {"interleavings", advice->interleavings}};
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
  if (document.verification) put_verification(json, *document.verification);
  return json;
}

std::string to_json(const Document& document) {
  return json_of(document).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace duress::report
