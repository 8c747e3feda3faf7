// SPDX-License-Identifier: Apache-2.0
#include "search/failure_json.h"

#include <nlohmann/json.hpp>

namespace duress::search {
namespace {

using Json = nlohmann::ordered_json;

void put_place(Json& json, const finding::Frame& frame, finding::Names& names) {
  if (frame.file.empty()) return;
  json["file"] = names.shown(frame.file);
  json["line"] = frame.line;
  if (frame.column != 0) json["column"] = frame.column;
}

Json to_json(const std::vector<finding::Frame>& stack, finding::Names& names) {
  Json list = Json::array();
  for (const finding::Frame& frame : stack) {
    Json entry{{"function", frame.function}};
    put_place(entry, frame, names);
    if (!frame.module.empty()) entry["module"] = frame.module;
    if (frame.module_offset != 0) entry["address"] = frame.module_offset;
    list.push_back(std::move(entry));
  }
  return list;
}

Json stacks_of(const Found& found, finding::Names& names) {
  Json list = Json::array();
  const finding::ProcessLog* process = found.logs.process();
  if (process == nullptr) return list;
  if (found.logs.stuck) {
    for (const finding::StuckStrand* strand : finding::waiting_strands(*found.logs.stuck)) {
      Json entry;
      entry["thread"] = strand->strand;
      entry["thread_name"] = strand->name;
      entry["state"] = strand->state;
      entry["operation"] = strand->operation;
      if (strand->object != 0) entry["object"] = names.object(*process, strand->object);
      entry["held_by"] = strand->held_by;
      entry["stack"] = to_json(names.stack(*process, strand->stack), names);
      list.push_back(std::move(entry));
    }
  }
  for (const finding::CrashRecord& crash : process->crashes) {
    Json entry;
    entry["thread"] = crash.thread;
    entry["stack"] = to_json(names.stack(*process, crash.stack), names);
    list.push_back(std::move(entry));
  }
  return list;
}

Json to_json(const Found& found, bool keep_going, finding::Names& names) {
  Json json;
  json["id"] = found.failure.id;
  json["failure"] = schema_failure(found.failure.kind);
  json["text"] = found.failure.text;
  json["strategy"] = exec::strategy_name(found.plan.strategy());
  json["model"] = exec::model_name(found.plan.head.model);
  if (found.plan.head.model != 0) {
    json["heuristic"] = exec::heuristic_name(found.plan.head.heuristic);
    json["stale"] = found.stale;
    json["early_stores"] = found.early;
    json["without_model"] = {{"failed", found.needs_model || found.without_model == 0 ? 0 : 1},
                             {"runs", found.without_model}};
  }
  json["found_at_run"] = found.run + 1;
  if (keep_going) json["runs_failed"] = found.times;
  json["switches"] = found.switches;
  json["replayed"] = found.replayed;
  json["replay"] = found.token;
  put_place(json, found.failure.place, names);
  json["stacks"] = stacks_of(found, names);
  if (!found.errors.empty()) json["stderr"] = found.errors;
  return json;
}

}  // namespace

std::string schema_failure(const std::string& kind) {
  if (kind.rfind("signal:", 0) != 0) return kind;
  return kind.substr(0, kind.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 7));
}

std::string with_failures(const std::string& document, const SearchResult& result, finding::Names& names) {
  Json json = Json::parse(document);
  json["complete"] = !result.interrupted && !result.out_of_time;
  json["failures"] = Json::array();
  for (const Found& found : result.found)
    json["failures"].push_back(to_json(found, result.kept_going, names));
  if (!result.earlier.empty()) json["found_before"] = result.earlier;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace duress::search
