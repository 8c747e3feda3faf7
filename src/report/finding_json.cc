// SPDX-License-Identifier: Apache-2.0
//
// Keys of the schema first; what it does not name (blocks, counts) is added beside them.
#include "report/finding_json.h"

#include <cmath>

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
  auto put = [&](const char* key, std::uint64_t failed, std::uint64_t runs) {
    evidence[key] = {{"failed", failed}, {"runs", runs}};
  };
  put("counterfactual", judgement.counterfactual.failed, judgement.counterfactual.runs);
  put("sc", judgement.sc_failed, judgement.sc_runs);
  if (judgement.charge != finding::ChargeReason::kNone)
    put("charged", judgement.charged.failed, judgement.charged.runs);
  if (witness) {
    put("rate", judgement.rate.failed, judgement.rate.runs);
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
    one["stack"] = report::to_json(thread.stack, cwd);
    list.push_back(std::move(one));
  }
  for (const CrashedThread& thread : entry.crashes)
    list.push_back({{"thread", thread.thread}, {"stack", report::to_json(thread.stack, cwd)}});
  return list;
}

}  // namespace

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

static Json block_json(const finding::BlockReport& block, const std::string& cwd) {
  Json json;
  json["kind"] = kind_name(block.kind);
  if (!block.name.empty()) json["name"] = block.name;
  if (block.size != 0) json["size"] = block.size;
  json["offset"] = block.offset;
  if (block.thread >= 0) json["thread"] = block.thread;
  if (!block.stack.empty()) json["stack"] = to_json(block.stack, cwd);
  return json;
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
  json["block"] = block_json(race.block, cwd);
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

Json to_json(const RaceEntry& race, const std::string& cwd) {
  Json json = to_json(static_cast<const finding::Race&>(race), cwd);
  // Readers see the keys in the order in which commands have always written them.
  if (race.judgement) {
    json["confirmed"] = race.judgement->confirmed;
    if (!race.test.empty()) json["test"] = race.test;
    if (race.baseline) json["baseline"] = true;
    put_judgement(json, *race.judgement);
  }
  if (!race.judgement && !race.unconfirmed.empty()) json["confirmed"] = false;
  if (!race.replay.empty()) json["replay"] = race.replay;
  if (race.fix) {
    Json& fix = json["fix"] = {{"kind", race.fix->kind}, {"text", race.fix->text}};
    if (!race.fix->diff.empty()) fix["diff"] = race.fix->diff;
    if (race.fix->schedules != 0)
      fix["schedules"] = race.fix->schedules;
    else
      fix["passed"] = race.fix->interleavings;
  }
  if (race.baseline) json["baseline"] = true;
  if (race.executions != 0) {
    json["executions"] = race.executions;
    json["switches"] = race.switches;
  }
  json["title"] = race.title;
  json["accesses"] = race.accesses;
  json["account"] = race.account;
  return json;
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
  if (entry.memory) {
    Json& memory = json["memory"];
    memory["variable"] = entry.memory->variable;
    memory["access"] = to_json(entry.memory->access, cwd);
    if (entry.memory->freed) memory["freed"] = to_json(*entry.memory->freed, cwd);
    memory["block"] = block_json(entry.memory->block, cwd);
  }
  for (const EarlyTimeout& timeout : entry.timeouts) {
    Json one = {{"operation", timeout.what}, {"seconds", timeout.seconds}};
    if (timeout.thread >= 0) one["thread"] = timeout.thread;
    put_place(one, timeout.place, cwd);
    json["timeouts"].push_back(std::move(one));
  }
  if (!entry.errors.empty()) json["stderr"] = entry.errors;
  if (entry.baseline) json["baseline"] = true;
  return json;
}

}  // namespace duress::report
