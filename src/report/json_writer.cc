// SPDX-License-Identifier: Apache-2.0
//
// Keys of the schema first; what it does not name (crashes, blocks, counts, statistics) is added beside
// them. A crash is not a "failure" of the schema: that one carries a replay token, and a free run has none.
#include "report/json_writer.h"

#include <nlohmann/json.hpp>

#include "report/path.h"

namespace duress::report {
namespace {

using Json = nlohmann::ordered_json;
using finding::BlockKind;
using finding::Frame;

Json to_json(const Frame& frame, const std::string& cwd) {
  Json json;
  json["function"] = frame.function;
  if (!frame.file.empty()) {
    json["file"] = shown_path(frame.file, cwd);
    json["line"] = frame.line;
    if (frame.column != 0) json["column"] = frame.column;
  }
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

std::string to_json(const Report& report) {
  Json json;
  json["schema"] = "duress/1";
  json["command"] = report.command;
  json["version"] = report.version;
  json["seed"] = report.seed;
  json["target"] = report.target;
  json["runs"] = report.runs;
  json["seconds"] = report.seconds;
  json["incomplete"] = report.incomplete;
  json["races"] = Json::array();
  for (const finding::Race& race : report.races) json["races"].push_back(to_json(race, report.cwd));
  if (!report.potential.empty()) {
    json["potential_races"] = Json::array();
    for (const finding::Race& race : report.potential)
      json["potential_races"].push_back(to_json(race, report.cwd));
  }
  if (!report.suspicions.empty()) {
    json["suspicions"] = Json::array();
    for (const finding::Suspicion& suspicion : report.suspicions) {
      Json entry;
      entry["analysis"] = suspicion.analysis;
      entry["what"] = suspicion.what;
      if (!suspicion.variable.empty()) entry["variable"] = suspicion.variable;
      entry["sites"] = Json::array();
      for (const finding::AccessReport& access : suspicion.sites)
        entry["sites"].push_back(to_json(access, report.cwd));
      json["suspicions"].push_back(std::move(entry));
    }
  }
  json["suppressed"] = report.suppressed;
  json["crashes"] = Json::array();
  for (const finding::Crash& crash : report.crashes) {
    Json entry;
    entry["signal"] = crash.signal;
    entry["thread"] = crash.thread;
    if (!crash.thread_name.empty()) entry["thread_name"] = crash.thread_name;
    entry["process"] = crash.pid;
    entry["stack"] = to_json(crash.stack, report.cwd);
    json["crashes"].push_back(std::move(entry));
  }
  if (!report.unused_suppressions.empty()) {
    Json& unused = json["unused_suppressions"] = Json::array();
    for (const Suppression& entry : report.unused_suppressions) {
      unused.push_back(
          {{"line", entry.type + ":" + entry.pattern}, {"file", entry.file}, {"number", entry.line}});
    }
  }
  if (report.collide) json["collide"] = to_json(*report.collide);
  if (!report.stats.empty()) json["stats"] = report.stats;
  if (!report.warnings.empty()) json["warnings"] = report.warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace duress::report
